"""Where trials are played: in this event loop, or by the workers of a Ray cluster."""
