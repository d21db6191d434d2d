"""Task files: a benchmark of the user's own tasks, read from YAML, JSON, JSON Lines or CSV."""
