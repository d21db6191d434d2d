"""τ²-bench: task data, worlds, users, the conversation loop and the scoring of its components.

A `domains.Domain` is data; an `environment.Environment` is made of it for each conversation, and
`replay` brings one into a task's state. Only `toolkits` imports inspect-evals. May
import the modules beside the folders of `tau_bridge`, but neither `business` nor `a2a`.
"""
