"""Other names and ids: the same everywhere, there and back, and only where they are safe."""

import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_bridge.chaos.renaming import Renaming, Vocabulary, draw_renaming

DATABASE = {
    "users": {
        "mia_brown_3668": {
            "user_id": "mia_brown_3668",
            "name": {"first_name": "Mia", "last_name": "Brown"},
            "email": "mia.brown3818@example.com",
            "phone_number": "555-123-2002",
            "address": {"city": "Austin", "zip": "78750"},
            "payment_methods": {"card_4421486": {"id": "card_4421486", "last_four": "7447"}},
        },
        "will_gray_1220": {"user_id": "will_gray_1220", "name": "Will Gray", "email": "w@x.org"},
    },
    "orders": {"#W2378156": {"order_id": "#W2378156", "item_ids": ["9612497925"]}},
    "products": {"9612": {"product_id": "9612", "name": "Brown Shirt", "options": {"size": "M"}}},
}
POLICY = "Agents will be polite. Call plan P1002 the usual one."


def renaming_of(*, task="", seed=1, database=DATABASE, policy=POLICY) -> Renaming:
    vocabulary = Vocabulary.of(database)
    random = Random(seed)  # noqa: S311 - nothing secret is drawn
    return draw_renaming(vocabulary, random=random, task={"say": [task]}, public=[policy])


def test_a_database_has_ids_names_and_other_words() -> None:
    found = Vocabulary.of(DATABASE)
    assert set(found.ids) == {
        *("mia_brown_3668", "mia.brown3818@example.com", "555-123-2002", "card_4421486"),
        *("will_gray_1220", "w@x.org", "W2378156", "9612497925"),
    }  # 9612 is too short to be told from a number
    assert set(found.names) == {"Mia", "Brown", "Will", "Gray"}
    assert {"shirt", "austin", "78750", "7447"} <= found.words


def test_names_and_ids_become_others_of_the_same_form_and_nothing_else_changes() -> None:
    seen: dict[str, str] = {}
    text = "Mia (MIA_BROWN_3668) of Austin, 78750, wants #W2378156; her card ends with 7447."
    told = renaming_of()(text, seen)
    name, user, order = seen
    assert told == f"{name} ({user}) of Austin, 78750, wants #{order}; her card ends with 7447."
    assert seen == {name: "Mia", user: "MIA_BROWN_3668", order: "W2378156"}
    assert (renaming_of().is_first("Mia"), renaming_of().is_first(name)) == (True, False)
    assert user.startswith(f"{name.upper()}_BROWN_")
    assert (len(order), order[0], order[1:].isdecimal()) == (8, "W", True)


def test_an_address_without_digits_changes_with_the_name_in_it() -> None:
    database = {"users": [{"name": "Ada Lovat", "email": "ada.lovat@example.com"}]}
    told = renaming_of(database=database)("Ada Lovat <ada.lovat@example.com>")
    first, last, _ = told.split(" ")
    assert told == f"{first} {last} <{first.lower()}.{last.lower()}@example.com>"
    assert {"Ada", "Lovat"}.isdisjoint({first, last})


def test_a_form_that_two_words_share_is_replaced_in_neither() -> None:
    renaming = Renaming({"ab-1234": "ab-9876", "a-b1234": "a-b5555"})
    assert renaming("ab-1234 a-b1234") == "ab-9876 a-b5555"
    for each in ("ab1234", "ab9876", "ab5555"):
        assert renaming(renaming(each)) == each


def test_names_that_are_words_and_ids_that_are_public_stay() -> None:
    stay = "Will Brown, plan P1002: I will"
    database = DATABASE | {"plans": [{"plan_id": "P1002"}]}
    assert renaming_of(database=database)(stay) == stay


def test_an_id_stays_whose_last_digits_are_said_by_themselves() -> None:
    assert renaming_of()("card_4421486") != "card_4421486"
    assert renaming_of(task="the card that ends with 1486")("card_4421486") == "card_4421486"


def test_an_id_that_holds_another_one_holds_its_other_one() -> None:
    database = {"user_id": "3f9a51", "card_id": "cc_3f9a51_gold", "log_id": "l7_cc_3f9a51_gold_2"}
    renaming = renaming_of(database=database)
    user, card = renaming("3f9a51"), renaming("cc_3f9a51_gold")
    assert user != "3f9a51"
    assert card == f"cc_{user}_gold"
    assert renaming("l7_cc_3f9a51_gold_2") == f"l7_{card}_2"
    stays = renaming_of(database=database, policy="As 3f9a51 does.")
    assert all(stays(each) == each for each in database.values())


def test_what_json_writes_in_two_ways_stays_and_an_escape_is_no_part_of_a_word() -> None:
    people = [{"first_name": "Jos\u00e9", "email": "jos\u00e97@example.com"}, DATABASE]
    renaming = renaming_of(database=people)
    told = json.loads(renaming(json.dumps("Jos\u00e9 and\nMia\tW2378156")))
    assert told == f"Jos\u00e9 and\n{renaming('Mia')}\t{renaming('W2378156')}"


@pytest.mark.parametrize("said", ["w2378156", "5551232002", "Mia's", "user:mia_brown_3668."])
def test_other_ways_of_writing_are_replaced_alike(said: str) -> None:
    renaming = renaming_of()
    assert renaming(said) != said
    assert renaming(renaming(said)) == said


def test_values_of_arguments_are_replaced_and_their_names_are_not() -> None:
    renaming = renaming_of()
    given_ = {"Mia": ["9612497925", 7, None, {"first_name": "Mia"}]}
    other = renaming.of_value(given_)
    assert list(other) == ["Mia"]
    assert other["Mia"][1:3] == [7, None]
    assert other["Mia"][3]["first_name"] not in {"Mia", "mia"}
    assert renaming.of_value(other) == given_


def test_a_seed_draws_the_same_names_again_and_another_seed_others() -> None:
    once, again, other = renaming_of(seed=1), renaming_of(seed=1), renaming_of(seed=2)
    assert once("mia_brown_3668") == again("mia_brown_3668") != other("mia_brown_3668")


WORDS = ["Mia", "MIA", "mia", "mia_brown_3668", "#W2378156", "555-123-2002", "card_4421486", "a."]


@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=5)), st.integers(0, 99))
def test_a_renamed_text_becomes_the_first_one_again(parts: list[str], seed: int) -> None:
    renaming = renaming_of(seed=seed)
    for text in (" ".join(parts), json.dumps(parts, ensure_ascii=False)):
        assert renaming(renaming(text)) == text


@given(st.integers(0, 999))
def test_no_two_ids_become_the_same_and_none_becomes_one_that_there_is(seed: int) -> None:
    ids = {f"C10{number:02}": {"customer_id": f"C10{number:02}"} for number in range(40)}
    renaming = renaming_of(database=ids, seed=seed)
    others = {renaming(each) for each in ids}
    assert len(others) == 40
    assert others.isdisjoint(ids)
