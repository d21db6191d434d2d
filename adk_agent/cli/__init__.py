"""The `greenroom` command, one module a command.

Parses arguments, calls the layer that does the work, and prints. May import everything else.
"""
