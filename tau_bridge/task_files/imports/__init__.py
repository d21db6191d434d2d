"""Imports: files of other tools, and recorded conversations, as drafts of task files."""
