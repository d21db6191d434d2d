"""Business scenarios: requests to an agent that has tools, a policy, and an end state to reach.

Their records and tools, the user, the references, the score and its diagnosis; `benchmark` is what
others see of it. May import `a2a` and the modules beside the folders, but no other benchmark.
"""
