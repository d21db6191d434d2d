"""Coordination exercises: questions that need several specialists, asked of a whole team."""
