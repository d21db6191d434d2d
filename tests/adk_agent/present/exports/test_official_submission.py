"""A submission before the leaderboard's own schema, model and checks, in the official checkout."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from adk_agent.results.summary import DataOrigin
from tau_bridge.tau2.data import open_source
from tau_bridge.tau2.submission_rules import REVISIONS, VERSION

from .conftest import trial

PYTHON = os.environ.get("TAU2_PYTHON")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(400),
    pytest.mark.requirement("bench:submission"),
    pytest.mark.skipif(
        PYTHON is None, reason="TAU2_PYTHON names no interpreter with the official engine"
    ),
]

WHERE = "from tau2.utils.utils import DATA_DIR; print('FOUND', DATA_DIR)"
CHECK = """
import io, json, sys
from contextlib import redirect_stdout
from pathlib import Path

from tau2.scripts.leaderboard import prepare_submission as prepare
from tau2.scripts.leaderboard.submission import Submission
from tau2.utils.utils import DATA_DIR

folder = Path(sys.argv[1])
record = json.loads((folder / "submission.json").read_text())
schema = Path(DATA_DIR).parent / "web/leaderboard/public/submissions/schema.json"
found = {"schema": None, "model": Submission.load(folder / "submission.json").submission_id}
try:
    import jsonschema
except ImportError:
    pass
else:
    jsonschema.Draft7Validator(json.loads(schema.read_text())).validate(record)
    found["schema"] = "valid"
said = io.StringIO()
with redirect_stdout(said):
    prepare.validate_submission(str(folder))
_, _, data = prepare.check_and_load_submission_data(str(folder))
_, results, _, _ = prepare.get_metrics(data.results)
found["said"] = said.getvalue()
found["results"] = {domain: each.model_dump() for domain, each in results.items()}
print("FOUND", json.dumps(found))
"""
SAID = (
    {"role": "assistant", "content": "Hi! How can I help you today?"},
    {"role": "user", "content": "Never mind. ###STOP###"},
)
DETAILS = """\
model_name = "My Agent 1"
model_organization = "Example Labs"
submitting_organization = "Example Labs"
submission_date = 2026-08-20
notes = "A model with a planner."
contact_info = {email = "someone@example.com"}
references = [{title = "Code", url = "https://example.com/my-agent"}]
"""


def official(script, *arguments):
    """The line that a script writes with the official engine."""
    result = subprocess.run(
        [PYTHON, "-c", script, *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    [line] = [line for line in result.stdout.splitlines() if line.startswith("FOUND ")]
    return line.removeprefix("FOUND ")


@pytest.fixture(scope="module")
def data():
    return Path(official(WHERE))


def test_the_revisions_known_here_are_those_of_the_official_data(data):
    source = open_source(data)
    assert {domain: source.revision(domain) for domain in REVISIONS} == REVISIONS, VERSION


def test_the_leaderboards_own_checks_take_a_submission_and_compute_its_figures(
    data, stored, exported, tmp_path, monkeypatch
):
    monkeypatch.setenv("TAU2_DATA_DIR", str(data))
    source = open_source(data)
    domains = ("airline", "telecom")
    records = [
        trial(
            task_id,
            number,
            reward=float(number >= index % 5),
            participant="http://127.0.0.1:9010",
            domain=domain,
            user="llm:gpt-test",
            messages=SAID,
        )
        for domain in domains
        for index, task_id in enumerate(source.task_ids(domain))
        for number in range(4)
    ]
    origin = {
        each: DataOrigin(source="official", revision=source.revision(each)) for each in domains
    }
    folder = stored(*records, num_trials=4, origin=origin)
    details = tmp_path / "details.toml"
    details.write_text(DETAILS)
    out = tmp_path / "out"
    exported(folder, "tau2-submission", "--details", str(details), "--out", str(out))
    [made] = out.iterdir()
    submission = json.loads((made / "submission.json").read_text())

    found = json.loads(official(CHECK, str(made)))
    assert found["model"] == made.name
    assert found["schema"] in ("valid", None)
    assert "All files passed all checks!" in found["said"]
    # They compare the last digit of sums whose order is their own, so pass^2 alone may be named.
    complaints = [line for line in found["said"].splitlines() if "•" in line]
    assert all("Pass^2" in line for line in complaints), found["said"]
    assert found["results"].keys() == submission["results"].keys() == set(domains)
    for domain, theirs in found["results"].items():
        ours = submission["results"][domain]
        assert [ours[f"pass_{k}"] for k in (1, 2, 3, 4)] == pytest.approx(
            [theirs[f"pass_{k}"] for k in (1, 2, 3, 4)], rel=1e-12
        )
        assert 0 < ours["pass_4"] < ours["pass_1"] < 100
        assert theirs["cost"] is None
