"""Tier 1: how the agents behind a trace coordinate, as metrics, labels and findings."""
