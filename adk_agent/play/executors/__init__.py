"""Executors of trials: this event loop, or the workers of a Ray cluster."""
