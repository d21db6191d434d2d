"""Runs on disk.

A run's manifest and trials, the status that other processes read, the trials left to play when it
is resumed, and its report. Nothing is played here. May import `core`, `results`, `requests`.
"""
