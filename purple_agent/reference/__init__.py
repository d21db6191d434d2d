"""The reference agent as a service: dialects, sessions, A2A, and the stages put together."""
