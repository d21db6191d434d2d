"""The stages of the reference agent, one module each.

Each takes a `Case` and returns the next one; the logic behind them is in other folders. May import
all but `reference` and `teams`.
"""
