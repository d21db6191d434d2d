"""What requests say about coordination, in the words of tasks and domains."""

import pytest

from tau_bridge.errors import WordingError
from tau_bridge.exercises.questions import exercises
from tau_bridge.exercises.wording import with_coordination

FIRST = next(iter(exercises()))


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("on three exercises", "on three coordination tasks"),
        ("on one team excercise", "on one coordination task"),
        ("judge its teamwork quality", "judge its coordination"),
        ("assess how the team works together on 3 exercises", None),
        ("on ex01", f"on coordination tasks {FIRST}"),
        ("on coordination task ex01", f"on coordination task {FIRST}"),
        ("on five shop tasks", "on five shop tasks"),
    ],
)
def test_teamwork_is_called_by_its_domain(said, meant):
    found = with_coordination(said)
    assert found.split() == (meant or "assess the team on 3 coordination tasks").split()
    assert with_coordination(found) == found


@pytest.mark.parametrize(
    ("said", "code"), [("on ex99", "bad-number"), ("on the second exercise", "ambiguous")]
)
def test_an_exercise_that_cannot_be_told_is_refused(said, code):
    with pytest.raises(WordingError) as caught:
        with_coordination(said)
    assert caught.value.code == code
