"""A run on disk.

Its manifest and trials, the status that other processes read, what a run that goes on still has to
play, and the report of what is there. Nothing is played. May import `core`, `results`, `requests`.
"""
