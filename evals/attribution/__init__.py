"""Failure attribution: the agent, and the step, that decided why a team's work came out wrong.

`turns` reads a trace or a log as a list of turns, `cues` look for signs in them, `ranking` adds the
signs up. All of that is pure and asks no model; `asking` is for one. May import `evals.judge` for
the model and `evals.base` for the evaluator.
"""
