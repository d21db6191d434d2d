"""The toolbox: where tools are found, how they are called, and what is repaired on the way."""
