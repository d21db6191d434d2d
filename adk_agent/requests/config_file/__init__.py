"""The configuration file of an evaluation, `greenroom.toml`: its keys, read and written."""
