"""The stages of the reference agent, a module each, in the order of their numbers.

Each takes a `Case` and hands on the next one; what it needs to know is in the folders below. May
import all but `reference` and `teams`.
"""
