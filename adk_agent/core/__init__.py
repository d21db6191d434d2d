"""The foundations of this package.

Settings (the only reader of the environment), errors and their exit codes, versions, atomic file
writes, language models and the cache of their answers (the only users of litellm), redaction and
escaping of text, and the vocabulary of a plan. Imports no other part of `adk_agent`.
"""
