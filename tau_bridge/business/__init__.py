"""Business scenarios: requests to an agent that has tools, a policy, and an end state to reach.

Their world, the server of its tools, the user, the references and the score. May import the modules
beside the folders of `tau_bridge`, but neither `tau2` nor `a2a`.
"""
