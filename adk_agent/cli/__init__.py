"""The `greenroom` command."""
