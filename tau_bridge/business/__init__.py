"""Business scenarios: requests to an agent that has tools, a policy, and an end state to reach."""
