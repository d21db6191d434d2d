"""Business processes: their kinds, their state machine, and checkpoints across restarts.

Evidence from other modules moves them. Imports nothing else of `purple_agent` but `json_values.py`.
"""
