"""Minds: what decides on the next reply of the reference agent."""
