"""Playing a plan: `evaluation.evaluate`.

Trials and their scores, the agents and teams that are run or called, the floor and the ceiling,
who is gone, when to stop, and where trials are played. May import `core` to `runs`.
"""
