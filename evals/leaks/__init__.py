"""Leaks: what an agent tells one conversation though it belongs to another.

Two ways to find them, both pure: canaries, which were planted in conversations of their own
(`canaries`, `matching`), and values and sentences that one task's conversations alone were given
and that come out in another's (`values`, `crossing`, `phrases`). A find is a `Leak` with both excerpts. Nothing found is no
proof: it says how often was looked.
"""
