"""Data sets: the task data of benchmarks, fetched once and kept in a folder of the user.

`description` says what a benchmark's data are, `sources` where they may come from, `members` what
is taken of a source, `store` where they are kept. `fetching` brings them.
"""
