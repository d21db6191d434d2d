"""The results of a run.

Rows of trials, their summary with intervals, the report, the scores of a run in progress, and views
of a report: tables, markdown, the digest, a comparison, a leaderboard row. Data and arithmetic
only: nothing here reads or writes a file. May import `core`.
"""
