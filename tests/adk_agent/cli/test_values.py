"""Values of arguments that are refused in plain words."""

import pytest

from adk_agent.cli.main import main


@pytest.mark.parametrize("text", ["abc", "-1", "1.5"])
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["run", "x", "--num-trials"], "a whole number from 1"),
        (["run", "x", "--seed"], "a whole number from 0"),
        (["serve", "--port"], "a port from 0 to 65535"),
    ],
)
def test_a_text_that_is_no_such_number_is_refused_in_plain_words(arguments, expected, text, capsys):
    with pytest.raises(SystemExit) as ended:
        main([*arguments, text])
    assert ended.value.code == 2
    assert f"{text!r} is not {expected}" in capsys.readouterr().err
