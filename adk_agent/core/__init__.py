"""Everything of this package that knows no other part of it.

Settings (the only reader of the environment), errors and their exit codes, versions, files that
are written whole, language models and the cache of their answers (the only users of litellm), what
keeps secrets and markup out of texts, and the vocabulary of a plan. May import nothing of
`adk_agent` but itself.
"""
