"""Backends that play evaluations for the service, in its own process or in a separate one."""
