"""Brings benchmark tasks to A2A agents: messenger, wire, worlds, users, conversations, scoring."""
