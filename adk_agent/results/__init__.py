"""The results of a run.

Rows of trials, their summary with its intervals, the report, the scores while a run goes on, and
what is made of a report: tables, markdown, the digest, a comparison, a leaderboard row. Data and
arithmetic: nothing here reads or writes a file. May import `core`.
"""
