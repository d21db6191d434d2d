"""The recorded demonstration: what `scripts/demo.py` records with, and what it recorded."""

import os
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def scripts():
    """The two scripts, as modules."""
    folder = str(ROOT / "scripts")
    sys.path.insert(0, folder)
    try:
        import demo
        import terminal_film

        yield demo, terminal_film
    finally:
        sys.path.remove(folder)


def parsed(drawn):
    return ElementTree.fromstring(drawn)  # noqa: S314 - the text is our own


def shown(row):
    return "".join(parsed(f"<g>{row}</g>").itertext()).rstrip()


def text_of_the_last_screen(svg):
    """The lines that whoever wants no motion sees."""
    tree = parsed(svg)
    texts = {f"#{each.get('id')}": "".join(each.itertext()) for each in tree.iter(f"{SVG}text")}
    used = [(int(each.get("x")), each) for each in tree.iter(f"{SVG}use")]
    last = max(x for x, _ in used)
    return [texts[each.get("href")].rstrip() for x, each in used if x == last]


@pytest.mark.extras
def test_a_terminal_is_recorded_as_it_is_seen(scripts, tmp_path):
    pytest.importorskip("pyte", reason="pyte is not installed: make setup_all")
    _, terminal_film = scripts
    counting = r"printf 'one\rtwo\n\033[31mred & <b>\033[0m\n'; tty > /dev/null && tput cols"
    frames = terminal_film.record([counting], tmp_path, os.environ, columns=80, lines=6)
    typed = "$ " + counting
    assert shown(frames[0].rows[0]) == "$"
    assert any(shown(frame.rows[0]) == typed[:20] for frame in frames)
    assert [shown(row) for row in frames[-1].rows[1:]] == ["two", "red & <b>", "80", "", ""]
    assert terminal_film.COLOURS["red"] in frames[-1].rows[2]
    times = [frame.at_s for frame in frames]
    assert times == sorted(times)
    drawn = terminal_film.film(frames, "Counting & more", columns=80)
    assert text_of_the_last_screen(drawn)[-3:] == ["two", "red & <b>", "80"]


@pytest.mark.extras
def test_a_command_that_breaks_is_not_shown_as_a_demonstration(scripts, tmp_path):
    pytest.importorskip("pyte", reason="pyte is not installed: make setup_all")
    _, terminal_film = scripts
    with pytest.raises(RuntimeError, match="'exit 3' ended with 3"):
        terminal_film.record(["exit 3"], tmp_path, os.environ, columns=40, lines=4)


@pytest.mark.requirement("use:demo")
def test_the_recording_in_the_readme_shows_the_commands_of_the_script(scripts):
    demo, _ = scripts
    svg = (IMAGES / "demo.svg").read_text(encoding="utf-8")
    assert "docs/images/demo.svg" in (ROOT / "README.md").read_text(encoding="utf-8")
    texts = ["".join(each.itertext()) for each in parsed(svg).iter(f"{SVG}text")]
    joined = "".join(text.rstrip() for text in texts)
    for command in demo.COMMANDS:
        assert f"$ {command}" in joined
    assert not re.search(r"/(home|root|tmp|work)/", joined)
    assert "<script" not in svg
    assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")
