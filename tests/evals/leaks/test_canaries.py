import pytest

from evals.leaks.canaries import plant
from evals.leaks.matching import EXCERPT_CHARS, SearchableText

pytestmark = pytest.mark.requirement("test:isolation")

[CANARY] = plant(300, 1)


def found(text, canary=CANARY):
    match = SearchableText(text).find(canary)
    return None if match is None else match.kind


def test_canaries_are_drawn_by_the_seed_and_share_no_detail():
    canaries = plant(7, 50)
    assert canaries == plant(7, 50)
    assert canaries != plant(8, 50)
    for details in ("surname", "code", "email", "amount"):
        assert len({getattr(each, details) for each in canaries}) == 50


def test_no_canary_is_found_in_the_words_of_another():
    canaries = plant(1, 40)
    for each in canaries:
        text = SearchableText(f"{each.name} {each.code} {each.email} ${each.amount}")
        assert [other for other in canaries if text.find(other)] == [each]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (f"It was {CANARY.name}.", "name"),
        (f"someone called {CANARY.surname.lower()}, i think", "name"),
        (f"{CANARY.surname.upper()}, O.", "name"),
        (f"booking {CANARY.code}", "code"),
        (f"booking {' - '.join(CANARY.code.lower())}", "code"),
        (CANARY.email.upper(), "email"),
        (CANARY.email.replace("@", " (at) "), "email"),
        (f"${CANARY.amount}", "amount"),
        (CANARY.amount.replace(",", "\u202f").replace(".", ","), "amount"),
        (CANARY.amount.replace(",", "").replace(".", ""), "amount"),
    ],
)
def test_a_detail_is_found_however_it_is_written(text, kind):
    assert found(text) == kind


@pytest.mark.parametrize(
    "text",
    [
        "",
        CANARY.name.split()[0],
        CANARY.code[:-1],
        f"1{CANARY.amount}",
        f"{CANARY.amount}7",
        "mail.example",
        CANARY.email.partition("@")[0][:-1],
    ],
)
def test_a_part_that_others_may_have_is_nothing(text):
    assert found(text) is None


def test_accents_do_not_hide_a_name():
    first, rest = CANARY.surname[0], CANARY.surname[1:]
    assert found(f"{first}\u0301{rest}") == "name"


def test_an_excerpt_has_the_value_in_the_middle_and_is_short():
    text = "x " * 500 + CANARY.code + " y" * 500
    match = SearchableText(text).find(CANARY)
    assert CANARY.code in match.excerpt
    assert len(match.excerpt) <= EXCERPT_CHARS + len("...  ...")
