"""The check of an agent before it is evaluated: its card, its interfaces and the text wire.

| stage | module |
|---|---|
| the card is fetched | `card_answer` |
| a few messages are sent | `probe`, `sending` |
| what came back is judged, without I/O | `reach`, `card`, `addresses`, `replies`, `clock_skew`, `extensions` |
| signatures and credentials | `signature`, `authentication` |
| all of it, in order | `checking` |
"""
