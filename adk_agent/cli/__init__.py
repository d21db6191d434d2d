"""The `greenroom` command, with one module per subcommand for its arguments and its code.

`main` knows only the names and imports a subcommand when it is used. Subcommands call the layers
below and print. May import everything else.
"""
