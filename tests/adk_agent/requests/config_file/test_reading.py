"""`greenroom.toml`: what it may say, and how its errors are named."""

import json
import tomllib

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_agent.core.errors import RequestError
from adk_agent.requests.config_file.lines import line_of
from adk_agent.requests.config_file.model import ConfigFile, TaskEntry, json_schema
from adk_agent.requests.config_file.reading import read_config
from adk_agent.requests.config_file.writing import config_text

WHOLE = """\
agents = ["null", { address = "http://127.0.0.1:9010", name = "mine", token_env = "MINE" }]
entry = "mine"
trials = 2
seed = 7
max_concurrency = 2
max_steps = 50
timeout_s = 30
references = true
offline = true
options = { solo = true }
[[tasks]]
domain = "shop"
benchmark = "shops"
number = 5
first = true
without = [3]
split = "test"
where = { gold_actions = 3, persona = "hard" }
[[tasks]]
file = "mine.yaml"
ids = [1, "b"]
[models]
default = "openai/a"
user = "openai/b"
judge = "openai/c"
[gates]
fail_under = 1
stop_when = "failed > 3"
[[exports]]
to = "junit"
out = "junit.xml"
"""


@pytest.fixture
def read(tmp_path):
    def read(text):
        path = tmp_path / "greenroom.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_config(path).content

    return read


@pytest.fixture
def complaint(read, tmp_path):
    def complaint(text):
        with pytest.raises(RequestError) as caught:
            read(text)
        return str(caught.value).replace(f"{tmp_path}/", "")

    return complaint


def test_everything_that_can_stand_in_a_file_is_read(read):
    content = read(WHOLE)
    assert [each.address for each in content.agents] == ["null", "http://127.0.0.1:9010"]
    assert content.tasks[0].without == ("3",)
    assert content.tasks[0].where == {"gold_actions": "3", "persona": "hard"}
    assert content.tasks[1].ids == ("1", "b")
    assert content.gates.fail_under == 1
    assert read("") == ConfigFile()
    assert read(b"\xef\xbb\xbftrials = 2\r\n").trials == 2


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("trails = 3", "line 1: unknown key 'trails': did you mean 'trials'?"),
        ("\n\nnum_trials = 3", "line 3: unknown key 'num_trials': did you mean 'trials'?"),
        ('trials = "3"', "line 1: trials should be a whole number, not the text '3'"),
        ("trials = true", "line 1: trials should be a whole number, not true"),
        ("trials = 0", "line 1: trials: it should be greater than or equal to 1, not 0"),
        ("seed = 2026-01-01", "line 1: seed should be a whole number, not the text '2026-01-01'"),
        ("offline = 1", "line 1: offline should be true or false, not 1"),
        ("timeout_s = nan", "line 1: timeout_s should be a finite number"),
        ("agents = 7", "line 1: agents should be a list, not 7"),
        ("agents = [7]", "line 1: [[agents]] 1 should be an address or a table, not 7"),
        (
            '[agents]\naddress = "null"',
            "line 1: agents should be a list, not a table: write [[agents]]",
        ),
        (
            '[[agents]]\naddress = "null"\ntrials = 3',
            "line 3: unknown key 'trials' in [[agents]] 1: 'trials' stands above the first [table]",
        ),
        (
            "fail_under = 0.5",
            "line 1: unknown key 'fail_under': 'fail_under' stands below [gates]",
        ),
        ('[[agents]]\nurl = "x"', "line 2: unknown key 'url' in [[agents]] 1: did you mean 'addr"),
        ("[[agents]]\nname = 'x'", "[[agents]] 1 lacks the key 'address'"),
        ("xyz = 1", "line 1: unknown key 'xyz': known are agents, entry, tasks, request"),
        (
            '[[tasks]]\ndomain = "a"\n[[tasks]]\nnumber = 3',
            "line 3: [[tasks]] 2: write what is played: domain, benchmark or file",
        ),
        (
            '[[tasks]]\ndomain = "a"\nids = []',
            "line 3: ids of [[tasks]] 1 is empty",
        ),
        ('[[tasks]]\nfile = "a"\ndomain = "b"', "write file, or domain and benchmark, not both"),
        ('[[tasks]]\ndomain = "b"\nids = ["1"]\nnumber = 2', "ids name the tasks: leave out"),
        ('request = "x"\nagents = ["null"]', "leave out agents, tasks and entry"),
        ("agents = null", "line 1: not TOML: Invalid value; put a text in double quotation marks"),
        ("trials\n", "line 1: not TOML: Expected '=' after a key"),
        (b"# \xff", "line 1: not a text in UTF-8; save it as UTF-8"),
        (b"# " + b"x" * 100_000, "larger than 100 kB"),
    ],
)
def test_an_error_is_named_with_its_line_and_what_is_meant(complaint, text, problem):
    assert problem in complaint(text)


def test_all_errors_are_named_at_once_in_the_order_of_their_lines(complaint):
    text = 'trials = "3"\n[gates]\nfail_over = 1\n[models]\nuser = 7\n'
    assert complaint(text) == (
        "greenroom.toml has 3 errors:\n"
        "  line 1: trials should be a whole number, not the text '3'\n"
        "  line 3: unknown key 'fail_over' in gates: did you mean 'fail_under'?\n"
        "  line 5: models.user should be a text in quotation marks, not 7"
    )


@pytest.mark.parametrize(
    "entry",
    ['token = "hush-hush"', "token_env = 'hush-hush'", 'api_key = "hush-hush"'],
)
def test_a_secret_is_refused_and_not_repeated(complaint, entry):
    told = complaint(f'[[agents]]\naddress = "http://a"\n{entry}')
    assert "line 3" in told
    assert "hush" not in told
    assert "token" in told


def test_the_line_of_a_key_is_where_its_statement_begins():
    text = '# a\nx = [\n  1,\n  2,\n]\n\n[[t]]\n"a b" = """\nk = 1\n"""\nk = 2\n[t.sub]\nz.y = 1\n'
    places = {
        ("x",): 2,
        ("x", 1): 2,
        ("t", 0): 7,
        ("t", 0, "a b"): 8,
        ("t", 0, "k"): 11,
        ("t", 0, "sub", "z", "y"): 13,
        ("t", 0, "missing"): 7,
        ("missing",): 1,
    }
    assert {place: line_of(text, place) for place in places} == places


def test_the_schema_agrees_with_the_reader(read):
    schema = json_schema()
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.validate(tomllib.loads(WHOLE), schema, jsonschema.Draft7Validator)
    for wrong in ("trails = 1", 'trials = "1"', "[[agents]]\nname = 'x'", "[gates]\nx = 1"):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(tomllib.loads(wrong), schema, jsonschema.Draft7Validator)


def test_every_key_has_a_description_in_the_schema():
    schema = json_schema()

    def described(table):
        for key, value in table["properties"].items():
            assert value.get("description"), key

    described(schema)
    for table in schema["$defs"].values():
        described(table["anyOf"][1] if "anyOf" in table else table)


@given(st.text(min_size=1).filter(lambda text: text.isprintable()))
def test_any_address_and_name_that_is_written_is_read_again(text):
    written = config_text([text], [TaskEntry(domain=text)], trials=2, run="greenroom run")
    content = ConfigFile.model_validate_json(json.dumps(tomllib.loads(written)))
    assert (content.agents[0].address, content.tasks[0].domain) == (text, text)


def test_every_example_in_a_written_file_can_be_switched_on(read):
    text = config_text(["null"], [TaskEntry(domain="shop", number=5)], trials=1, run="run")
    lines = [
        line.removeprefix("# ") if line.startswith(("# [[", "# ")) and _is_example(line) else line
        for line in text.splitlines()
    ]
    content = read("\n".join(lines))
    assert content.offline
    assert content.exports[0].to == "junit"
    assert content.gates.stop_when
    assert content.models.judge
    assert content.max_steps == 200


def _is_example(line):
    bare = line.removeprefix("# ")
    return bare.startswith("[[") or bare.split(" = ")[0].isidentifier()
