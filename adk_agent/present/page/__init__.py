"""One run as one page for a browser: `report.html`, a file that needs no network.

Figures are computed in Python, pictures are drawn by templates, and every conversation is packed
into the page: a small script unpacks the one that is opened. Whatever came from outside is escaped
by the templates (`adk_agent.present.page.document`) or shown as text nodes (`templates/script/`).
"""
