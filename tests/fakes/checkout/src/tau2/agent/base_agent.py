"""Agents."""


class HalfDuplexAgent:
    def __init__(self, tools, domain_policy):
        self.tools, self.domain_policy = tools, domain_policy
