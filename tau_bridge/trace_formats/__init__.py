"""Trace formats of other tools, read as steps: spans, logs of evaluations, lists of messages.

Everything in them was reported, nothing of it observed. May import `a2a` and the modules beside the
folders of `tau_bridge`.
"""
