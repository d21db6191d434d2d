"""Runs on disk.

A run's manifest and trials, the status that other processes read, the trials that are left to play
when it goes on, and its report. Nothing is played here. May import `core`, `results`, `requests`.
"""
