"""What a trace and its task results are worth. Pure: no I/O, no import of another of our packages."""
