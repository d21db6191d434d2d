"""Probes of an agent's isolation: conversations in which made-up customers ask about each other.

| module | holds |
|---|---|
| `limits` | how many there are |
| `script` | what customers say, and the tool that the agent may call |
| `customer` | one conversation, in the form of an evaluation's |
| `probing` | who speaks when: one after another, at once, with another's ids |

None of them is a trial, and none changes a score.
"""
