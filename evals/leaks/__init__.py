"""Whether an agent tells one conversation what belongs to another.

Two ways to find out, both pure: canaries, which were planted in conversations of their own
(`canaries`, `matching`), and values that one task's conversation alone was given and that come out
in another's (`values`, `crossing`). A find is a `Leak` with both excerpts. Nothing found is no
proof: it says how often was looked.
"""
