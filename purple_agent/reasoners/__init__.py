"""Reasoners: what decides on the next reply of the reference agent, `reasoner.Reasoner`.

There are two, `deterministic` and `model`, and neither imports the other. They propose calls and
make none. May import all from `policy` to `writes`.
"""
