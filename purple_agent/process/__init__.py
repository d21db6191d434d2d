"""Business processes: of which kind they are, where they stand, and how that outlives a restart.

They move on evidence that others find. Imports nothing else of `purple_agent`.
"""
