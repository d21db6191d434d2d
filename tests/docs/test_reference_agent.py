"""The page on the reference agent names its variables and their defaults as they are."""

import re
from pathlib import Path

from purple_agent import settings
from purple_agent.settings import ReferenceSettings

PAGE = Path(__file__).parents[2] / "docs" / "reference-agent.md"
ROW = re.compile(r"^\| `(PURPLE_\w+)` \| ([^|]+) \|", re.MULTILINE)


def test_every_variable_has_a_row_and_its_default():
    source = Path(settings.__file__).read_text()
    read = {f"PURPLE_{name}" for name in re.findall(r'"(?:PURPLE_)?([A-Z][A-Z0-9_]+)"', source)}
    rows = dict(ROW.findall(PAGE.read_text()))
    assert set(rows) == read - {f"PURPLE_{settings.PREFIX}"}
    defaults = ReferenceSettings()
    assert rows["PURPLE_BUSINESS_TOKENS"] == str(defaults.business_tokens)
    assert rows["PURPLE_TAU2_TOKENS"] == str(defaults.tau2_tokens)
    assert rows["PURPLE_DEADLINE_S"] == f"{defaults.deadline_s:g}"
    assert rows["PURPLE_TASKS_SEND"] == str(defaults.tasks_send).lower()
