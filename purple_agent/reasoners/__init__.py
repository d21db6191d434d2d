"""Reasoners: decide on the next reply of the reference agent; see `reasoner.Reasoner`.

There are two, `deterministic` and `model`, which do not import each other. They propose calls but
do not make them. May import everything from `policy` to `writes`.
"""
