"""Business processes: of which kind they are, where they stand, and when they may change things."""
