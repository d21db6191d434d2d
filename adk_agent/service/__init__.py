"""The edge of the A2A service: who may call, how much, how long, and what is kept of it."""
