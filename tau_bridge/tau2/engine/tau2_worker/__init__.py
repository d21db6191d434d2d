"""The process that plays with the official engine, which the interpreter of a checkout runs.

It imports nothing but the standard library and `tau2`, and of its own modules by relative names:
there is no Greenroom where it runs. One process imports the engine and forks each piece of work from
itself, so that a crash takes one trial with it, and importing, which takes seconds, is done once. It
talks in JSON lines over standard input and output; docs/official-engine.md lists the messages.
"""
