"""Tier 1: how the agents behind a trace coordinate, as metrics, labels and findings.

Every metric computes from `interactions`, the calls of a team. May import `evals.trace`,
`evals.base` and `evals.isolation`.
"""
