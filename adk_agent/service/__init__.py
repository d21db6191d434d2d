"""The A2A service, and the only place that imports `a2a.server`.

Its card and server, who may call it, how much and how long, what is kept of its tasks, the
conversation about evaluations (`conversation`), and the process that plays them (`playing`). May
import everything but the command line.
"""
