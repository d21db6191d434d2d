"""Coordination exercises: questions that need several specialists, asked of a whole team.

`benchmark` is what others see of it. May import `a2a` and the modules beside the folders, but no
other benchmark.
"""
