"""τ²-bench: task data, worlds, users, the conversation loop and the scoring of its components."""
