"""Looks for leaks between the conversations of a run's agents.

`trials` compares the trials of a run, `probes` sends made-up customers after them, and `monitor`
puts both together for the report.
"""
