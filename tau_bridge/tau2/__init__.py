"""τ²-bench: task data, worlds, users, the conversation loop and the scoring of its components.

`benchmark` is what others see of it. A `domains.Domain` is data; an `environment.Environment` is
made of it for each conversation, and `replay` brings one into a task's state. Only `toolkits`
imports inspect-evals. May import `a2a` and the modules beside the folders, but no other benchmark.
"""
