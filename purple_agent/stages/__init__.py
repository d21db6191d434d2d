"""The stages of the reference agent, a module each, in the order of their numbers."""
