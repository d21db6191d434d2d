"""The `greenroom` command, one module a command: its arguments beside what it does.

`main` knows only the names, and imports the command that is asked for, which calls the layer that
does the work, and prints. May import everything else.
"""
