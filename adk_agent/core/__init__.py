"""The foundations of this package, which know no other part of it.

Settings (the only reader of the environment), errors and their exit codes, versions, files that
are written whole, language models and the cache of their answers (the only users of litellm),
redaction and escaping of texts, and the vocabulary of a plan. May import nothing of `adk_agent` but
itself.
"""
