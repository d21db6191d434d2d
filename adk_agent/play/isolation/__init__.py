"""Whether the agents of a run keep conversations apart.

`trials` compares the trials of a run, `probes` sends made-up customers after them, and `monitor`
puts both together for the report.
"""
