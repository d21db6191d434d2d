"""A finished run for eyes and for other programs: the page of a run, and the exports.

May import `core` to `play`.
"""
