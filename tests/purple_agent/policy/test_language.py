"""The language of conditions: what it says, what it does not decide, and what it does not take."""

import json
import math
import re
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purple_agent.policy.language import MAX_CHARS, ConditionError, read_condition
from purple_agent.policy.syntax import find

FACTS = {
    "expense": {"amount": 750, "status": "approved", "cents": 0.1, "note": None, "paid": False},
    "request": {"status": "approved", "count": "5", "quote": "it's", "lines": [1], "to": {"a": 1}},
    "limit": 500.5,
    "flag": True,
    "nan": math.nan,
    "true": {"x": 1},
    "größe": 3,
}


def judge(condition, facts=FACTS):
    return read_condition(condition).judge(lambda path: find(facts, path))


@pytest.mark.parametrize(
    ("condition", "truth"),
    [
        ("expense.amount > 500 && request.status === 'approved'", True),
        ("expense.amount>500&&request.status==='approved'", True),
        ("expense.amount > 750", False),
        ("expense.amount >= 750", True),
        ("expense.amount < limit || flag", True),
        ("expense.amount <= limit", False),
        ("limit > 500.4 && limit < 500.6", True),
        ("-1 < 0 && -0.5 > -0.6", True),
        ("expense.cents === 0.1", True),  # as decimals, both are a tenth
        ("expense.amount === 750.00", True),
        ("expense.amount !== 750", False),
        ('request.status !== "denied"', True),
        ("request.quote === 'it\\'s' && request.quote === \"it's\"", True),
        ("'\\u00e9' === 'é' && 'a\\\\b' !== 'ab'", True),
        # types
        ("request.count === 5", False),
        ("request.count !== 5", True),
        ("request.count == 5 && 5.0 == request.count", True),
        ("request.status == 5", False),
        ("flag == 1", False),
        ("flag === true", True),
        ("expense.note === null", True),
        ("expense.note == false", False),
        ("request.lines === null || request.to === 'a'", False),
        # precedence
        ("true || false && false", True),
        ("(true || false) && false", False),
        ("!false && false", False),
        ("!(false && false)", True),
        ("!!flag", True),
        ("!expense.paid === true", True),  # as in JavaScript: (!expense.paid) === true
        ("(expense.amount > 5) === flag", True),
        # unknown
        ("expense.missing > 5", None),
        ("expense.missing === null", None),
        ("expense.missing !== 'x'", None),
        ("!expense.missing", None),
        ("expense.amount.deeper === 1", None),
        ("expense.note.deeper === 1", None),
        ("nothing && flag", None),
        ("nothing && expense.paid", False),
        ("nothing || flag", True),
        ("nothing || expense.paid", None),
        ("nothing === nothing", None),
        ("!(nothing || flag)", False),
        # what has an order, and what is true
        ("request.status > 5", None),
        ("request.count > 4", None),
        ("'b' > 'a'", None),
        ("flag > 0", None),
        ("expense.note < 1", None),
        ("nan > 1 || nan === nan", None),
        ("request.status", None),
        ("expense.amount && flag", None),
        ("!expense.note", None),
        ("request.lines === request.lines", None),
        ("request.to == request.to", None),
        # names
        ("true.x === 1", True),
        ("truth === 1", None),
        ("größe > 2", True),
    ],
)
def test_conditions_by_hand(condition, truth):
    assert judge(condition).truth is truth


@pytest.mark.parametrize(
    ("condition", "paths"),
    [
        ("a.b > 5 && c === 'x' && flag", ["a.b", "c"]),
        ("a.b > 5 || expense.paid", ["a.b"]),
        ("a.b > 5 && expense.paid", []),
        ("request.count > limit", ["limit", "request.count"]),
        ("!(a.b) === c", ["a.b", "c"]),
    ],
)
def test_the_paths_that_keep_a_condition_open_are_named(condition, paths):
    assert sorted(judge(condition).undecided) == paths


@pytest.mark.parametrize(
    "condition",
    [
        "",
        "  ",
        "expense.amount >",
        "expense.amount > 500 &&",
        "a & b",
        "a = b",
        "a and b",
        "not a",
        "a === b === c",
        "1 < a < 5",
        "a b",
        "(a",
        "a)",
        "a.",
        ".a",
        "a..b",
        "a.1",
        "a[0] === 1",
        "a + 1 > 2",
        ".5 < a",
        "5. < a",
        "1e5 < a",
        "5a < 3",
        "'x",
        "'a\nb' === c",
        "'\\q' === a",
        "'text'",
        "a && 'text'",
        "!5",
        "null || a",
        "a ＞ 5",
        "a > 5 // always",
        "a > 5; b",
        "f(a)",
        "`a` === b",
        "a > 5\x00",
        "__import__('os').system('true')",
        "1" * 61 + " === a",
        "!" * 60 + "a",
        "!(" * 60 + "a" + ")" * 60,
        "a||" * 600 + "a",
        "a" * (MAX_CHARS + 1),
    ],
)
def test_what_is_no_condition_is_refused_with_a_short_reason(condition):
    with pytest.raises(ConditionError) as refused:
        read_condition(condition)
    assert 5 < len(str(refused.value)) < 120


def test_the_reason_says_where_reading_stopped():
    with pytest.raises(ConditionError, match="has an unexpected '= 3' at character 3"):
        read_condition("a = 3")
    with pytest.raises(ConditionError, match="ends too early"):
        read_condition("a > ")


def test_parentheses_cost_no_depth():
    assert judge("(" * 900 + "flag" + ")" * 900).truth is True


# A second evaluator, over trees of its own: tuples that are printed as conditions.

NAMES = ("a", "b", "c.d", "c.e", "gone")
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([0.1, 2.5, -0.5]),
    st.sampled_from(["x", "2.5", "", "3"]),
    st.just([1]),
)
WORLDS = st.builds(
    lambda a, b, d: {"a": a, "b": b, "c": {"d": d}},
    VALUES,
    VALUES,
    VALUES,
)
SIGNS = st.sampled_from(["===", "!==", "==", "!=", "<", "<=", ">", ">="])
LEAVES = st.one_of(
    st.sampled_from(NAMES).map(lambda name: ("name", name)),
    st.sampled_from([True, False, None, Decimal(0), Decimal("2.5"), Decimal(-3), "x", "2.5"]).map(
        lambda value: ("value", value)
    ),
)
ASKABLE = st.one_of(
    st.sampled_from(NAMES).map(lambda name: ("name", name)),
    st.booleans().map(lambda value: ("value", value)),
    st.tuples(st.just("compare"), SIGNS, LEAVES, LEAVES),
)
TREES = st.recursive(
    ASKABLE,
    lambda inner: st.one_of(
        st.tuples(st.just("not"), inner),
        st.tuples(st.just("and"), inner, inner),
        st.tuples(st.just("or"), inner, inner, inner),
        st.tuples(st.just("compare"), SIGNS, inner, LEAVES),
    ),
    max_leaves=8,
)


def printed(tree, space=" "):
    what = tree[0]
    if what == "name":
        return tree[1]
    if what == "value":
        value = tree[1]
        return str(value) if isinstance(value, Decimal) else json.dumps(value)
    if what == "not":
        return f"!({printed(tree[1], space)})"
    if what == "compare":
        return f"({printed(tree[2], space)}){space}{tree[1]}{space}({printed(tree[3], space)})"
    sign = "&&" if what == "and" else "||"
    return f"{space}{sign}{space}".join(f"({printed(part, space)})" for part in tree[1:])


UNKNOWN = object()


def value_of(tree, world):
    what = tree[0]
    if what == "value":
        return tree[1]
    if what == "name":
        for part in tree[1].split("."):
            if not isinstance(world, dict) or part not in world:
                return UNKNOWN
            world = world[part]
        return Decimal(str(world)) if type(world) in (int, float) else world
    truth = truth_of(tree, world)
    return UNKNOWN if truth is None else truth


def truth_of(tree, world):
    what = tree[0]
    if what in ("name", "value"):
        value = value_of(tree, world)
        return value if isinstance(value, bool) else None
    if what == "not":
        inner = truth_of(tree[1], world)
        return None if inner is None else not inner
    if what == "compare":
        return compared(tree[1], value_of(tree[2], world), value_of(tree[3], world))
    truths = [truth_of(part, world) for part in tree[1:]]
    decides = what == "or"
    if decides in truths:
        return decides
    return None if None in truths else not decides


def compared(sign, left, right):
    if left is UNKNOWN or right is UNKNOWN:
        return None
    if sign[0] in "<>":
        if not (isinstance(left, Decimal) and isinstance(right, Decimal)):
            return None
        return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[
            sign
        ]
    if isinstance(left, list) and isinstance(right, list):
        return None
    if len(sign) == 2 and {type(left), type(right)} == {str, Decimal}:
        left, right = (
            Decimal(each)
            if isinstance(each, str) and re.fullmatch(r"-?\d+(\.\d+)?", each)
            else each
            for each in (left, right)
        )
    same = type(left) is type(right) and left == right
    return same if sign[0] == "=" else not same


@settings(max_examples=60, deadline=None)
@given(TREES, WORLDS, st.sampled_from(["", " ", "\n\t "]))
def test_conditions_mean_what_a_second_evaluator_says(tree, world, space):
    assert judge(printed(tree, space), world).truth is truth_of(tree, world)


@settings(max_examples=60, deadline=None)
@given(TREES, WORLDS)
def test_what_is_decided_stays_decided_when_more_is_known(tree, world):
    condition = printed(tree)
    less = {"c": world["c"]}
    before = judge(condition, less).truth
    assert before is None or judge(condition, {**less, "a": world["a"]}).truth is before


@settings(max_examples=60, deadline=None)
@given(TREES, WORLDS)
def test_an_undecided_condition_names_a_path_unless_only_constants_are_at_fault(tree, world):
    condition = printed(tree)
    finding = judge(condition, world)
    if finding.truth is None and not finding.undecided:
        assert judge(condition, {}).truth is None
    assert finding.undecided <= set(NAMES)
    assert finding.truth is None or not finding.undecided


SCRAPS = st.lists(
    st.sampled_from([*"()!<>=&|.'\"\\ab5- \n", "===", "&&", "||", "true", "null", "c.d", "'x'"]),
    max_size=25,
).map("".join)


@settings(max_examples=60, deadline=None)
@given(st.one_of(SCRAPS, st.text(max_size=40)), WORLDS)
def test_any_text_is_either_refused_or_judged(text, world):
    try:
        condition = read_condition(text)
    except ConditionError:
        return
    assert condition.judge(lambda path: find(world, path)).truth in (True, False, None)
