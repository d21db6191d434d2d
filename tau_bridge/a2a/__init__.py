"""Everything that knows the A2A protocol from the client's side.

The messenger and its conversations, cards, bounds, the policy of the network, and how replies are
read; `traceability` reads the steps that agents report, `proxy` watches agents that call each
other. May import the modules beside the folders of `tau_bridge`, but not `benchmark.py` and no
benchmark.
"""
