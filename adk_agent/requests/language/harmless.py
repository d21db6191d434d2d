"""Words that change nothing wherever they stand. An underscore joins words that stand together."""

from __future__ import annotations

from adk_agent.requests.language.lexicon import words

COURTESIES = frozenset(
    words("""
    please pls plz kindly ok okay well so now hey hi hello thanks thank_you great good fine
    yes yeah alright quickly actually greenroom also too right_now right_away for_me for_us by_now
    at_the_moment today oh ah um hmm sorry dear all_right
    can_you could_you would_you will_you can_we could_we can_i could_i may_i do_you_know
    i_want_to i_want_you_to i_would_like_to i_would_like_you_to i_need_to i_need_you_to let_us
    let_me tell_me i_want_to_know i_would_like_to_know i_need_to_know i_would_like i_want
    i_need do_you_mind i_wonder i_do_not_understand i_do_not_get i_do_not_see
    walk_me_through oh_no or_not like_i_am_five tbh btw
    """)
)
"""Courtesies of commands and questions."""
