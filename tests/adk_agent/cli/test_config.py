"""`greenroom run` as `greenroom.toml` says, and the flags that say the same without a sentence."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from adk_agent.cli.main import main
from adk_agent.runs.store import load_manifest, load_report
from adk_agent.runs.tracking import run_ids
from tests.fakes import RequestLog, scripted_agent, serve
from tests.fakes.runtime import chat_model

pytestmark = [
    pytest.mark.usefixtures("quick_start"),
    # litellm and its aiohttp transport, as of litellm 1.106.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning"),
]

INSTALLED = sys.executable
SHOWN = """\
agents = ["null"]
trials = 2
seed = 7

[[tasks]]
domain = "mock"
number = 2

[[tasks]]
domain = "airline"
ids = [1]
"""
ONE = 'agents = ["null"]\n[[tasks]]\ndomain = "mock"\nids = ["create_task_1"]\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def write(folder):
    """Writes the file into the folder in which the command runs."""

    def written(text, name="greenroom.toml"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)

    return written


@pytest.fixture
def plan(folder, capsys):
    """The plan of `greenroom run` with some flags."""

    def planned(*flags):
        code = main(["run", "--dry-run", "--json", "--offline", *flags])
        shown = capsys.readouterr()
        assert code == 0, shown.err
        return json.loads(shown.out)

    return planned


@pytest.fixture
def complaint(folder, capsys):
    """The complaint of a command that cannot be used."""

    def complained(*flags, code=2):
        assert main(["run", *flags]) == code
        return capsys.readouterr().err

    return complained


def played(plan):
    return {each["domain"]: each["task_ids"] for each in plan["tasks"]}


def test_a_file_is_played_without_a_word_and_named_first(write, shell, results_dir):
    write(ONE)
    code, out, complaint = shell("run", "--offline")
    assert code == 0, complaint
    assert out.splitlines()[0] == "reading greenroom.toml"
    (run_id,) = run_ids(results_dir)
    assert load_report(results_dir, run_id).request == "greenroom.toml: null on mock"
    assert (results_dir / run_id / "greenroom.toml").read_text() == ONE


def test_json_stays_alone_on_stdout(write, shell):
    write(ONE)
    _, out, err = shell("run", "--offline", "--json", "--quiet")
    assert json.loads(out)["models"] == {"judge": "rules", "user": "scripted"}
    assert err.startswith("reading greenroom.toml\n")


def test_a_file_chooses_domains_with_numbers_and_ids_of_their_own(write, plan):
    write(SHOWN)
    found = plan()
    assert {domain: len(ids) for domain, ids in played(found).items()} == {"mock": 2, "airline": 1}
    assert (found["num_trials"], found["seed"]) == (2, 7)
    assert found["read_by"] == "greenroom.toml"


def test_flags_beat_the_file_each_what_it_is_about(write, plan):
    write(SHOWN)
    other = plan("--agent", "echo", "--num-trials", "1", "--seed", "8")
    assert [each["address"] for each in other["participants"]] == ["builtin:echo"]
    assert (other["num_trials"], other["seed"]) == (1, 8)
    assert set(played(other)) == {"mock", "airline"}
    tasks = plan("--domain", "retail", "--task-ids", "3,4")
    assert played(tasks) == {"retail": ["3", "4"]}
    assert tasks["num_trials"] == 2


def test_a_number_of_tasks_beats_those_of_the_file_but_no_ids(write, plan, complaint):
    write(SHOWN.replace("ids = [1]", "number = 9"))
    assert {domain: len(ids) for domain, ids in played(plan("--num-tasks", "1")).items()} == {
        "mock": 1,
        "airline": 1,
    }
    write(SHOWN)
    assert "greenroom.toml, line 11: --num-tasks draws a sample" in complaint("--num-tasks", "1")


def test_the_file_beats_the_environment_but_not_its_order_to_stay_offline(
    write, capsys, monkeypatch, folder
):
    write(ONE + '[models]\njudge = "openai/file-judge"\n')
    monkeypatch.setenv("GREENROOM_JUDGE_MODEL", "openai/env-judge")
    monkeypatch.setenv("GREENROOM_OFFLINE", "1")
    assert main(["run", "--json", "--quiet"]) == 0
    warnings = json.loads(capsys.readouterr().out)["warnings"]
    (warning,) = [each for each in warnings if "judge'" in each]
    assert warning == ("the language model 'openai/file-judge' was not used: offline was asked for")


def test_a_file_elsewhere_names_what_is_beside_it(write, plan):
    write('agents = ["null"]\n[[tasks]]\nfile = "sums.yaml"\n[options]\n', "evals/greenroom.toml")
    write("- {id: sum, prompt: What is 2+2?, expect: {number: 4}}\n", "evals/sums.yaml")
    assert list(played(plan("--config", "evals/greenroom.toml")).values()) == [["sum"]]


def test_a_file_finds_tasks_by_topic_and_attributes_and_takes_options(write, plan):
    write(
        'agents = ["null"]\n[[tasks]]\ndomain = "airline"\nabout = "baggage"\nnumber = 2\n'
        '[[tasks]]\ndomain = "retail"\nwhere = { gold_actions = ">= 8" }\nwithout = ["66"]\n'
        '[options]\nevaluation_type = "action"\n'
    )
    found = plan()
    assert len(played(found)["airline"]) == 2
    assert "66" not in played(found)["retail"]
    assert found["evaluation_type"] == "action"


def test_a_team_is_named_by_its_roles(write, plan):
    write(
        'entry = "planner"\n[[agents]]\naddress = "http://127.0.0.1:1"\nname = "planner"\n'
        '[[agents]]\naddress = "http://127.0.0.1:2"\nname = "coder"\n'
        '[[tasks]]\ndomain = "coordination"\nnumber = 1\n'
    )
    found = plan()
    assert [each["role"] for each in found["members"]] == ["planner", "coder"]
    assert [each["role"] for each in found["participants"]] == ["planner"]
    assert not plan("--agent", "null")["members"]


def test_a_request_in_the_file_is_read_as_a_sentence(write, plan, complaint):
    write('request = "Evaluate builtin:null on two mock tasks"\ntrials = 3\n')
    found = plan()
    assert (len(found["tasks"][0]["task_ids"]), found["num_trials"]) == (2, 3)
    assert found["read_by"] == "rules"
    assert "the request of greenroom.toml" in complaint("--agent", "echo")


def test_a_sentence_says_everything_itself(write, plan, complaint):
    write(SHOWN)
    assert plan("builtin:echo on one mock task")["num_trials"] == 1
    told = complaint("builtin:echo on one mock task", "--config", "greenroom.toml")
    assert "write a sentence or --config, not both" in told


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("trails = 3\n" + ONE, "greenroom.toml, line 1: unknown key 'trails'"),
        (ONE.replace("mock", "moc"), "greenroom.toml, line 3: there is no domain 'moc'"),
        (ONE.replace("null", "nul"), "greenroom.toml, line 1: there is no agent 'nul'"),
        (ONE.replace('domain = "mock"', 'file = "no.yaml"'), "line 3: there is no file 'no.yaml'"),
        (
            'agents = ["null"]\n[[tasks]]\nbenchmark = "exercise"\n',
            "greenroom.toml, line 3: there is no benchmark 'exercise': did you mean 'exercises'",
        ),
        (
            'agents = ["null"]\n[[tasks]]\nbenchmark = "tau2"\ndomain = "banking"\n',
            "line 4: the benchmark 'tau2' has no domain 'banking'",
        ),
        (ONE + '[gates]\nstop_when = "faild > 3"\n', "greenroom.toml, line 6: "),
        (ONE + '[[exports]]\nto = "junitt"\n', "line 6: there is no format 'junitt': did you mean"),
        ("trials = 1\n", "neither a flag nor greenroom.toml names an agent"),
        ('agents = ["null"]\n', "neither a flag nor greenroom.toml says what to play"),
    ],
)
def test_a_file_that_cannot_be_played_is_named_with_the_line(write, complaint, text, problem):
    write(text)
    told = complaint("--offline")
    assert problem in told
    assert "Traceback" not in told


def test_a_config_that_is_not_there_is_exit_2(complaint, folder):
    assert "there is no file 'other.toml'; greenroom init" in complaint("--config", "other.toml")
    assert "is a folder" in complaint("--config", ".")
    assert "greenroom init" in complaint()


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        (("--agent", "null"), "--benchmark NAME  tau2, exercises"),
        (("--domain", "mock"), "no flag names an agent: write --agent URL"),
        (("--agent", "null", "--domain", "tau2"), "it is a benchmark: write --benchmark tau2"),
        (("--agent", "nul", "--domain", "mock"), "there is no agent 'nul': did you mean 'null'"),
        (
            ("--agent", "null", "--benchmark", "tau2", "--domain", "travel"),
            "the benchmark 'tau2' has no domain 'travel'",
        ),
        (("--agent", "null", "--benchmark", "tau2", "--task-ids", "1"), "goes with one domain"),
        (("--agent", "null", "--benchmark", "own_tasks"), "name a file of tasks"),
        (("--agent", "null", "--domain", "mock", "--task-ids", ","), "--task-ids is empty"),
        (
            ("--agent", "null", "--domain", "mock", "--model", "openai/x", "--offline"),
            "--model openai/x: --offline uses no language model",
        ),
    ],
)
def test_flags_without_a_sentence_say_what_is_missing(complaint, flags, problem):
    assert problem in complaint(*flags)


def test_a_benchmark_is_all_its_domains_and_a_domain_narrows_it(plan):
    flags = ("--agent", "null", "--num-tasks", "1", "--benchmark", "tau2")
    assert set(played(plan(*flags))) == {
        "airline",
        "banking_knowledge",
        "mock",
        "retail",
        "telecom",
    }
    assert set(played(plan(*flags, "--domain", "mock"))) == {"mock"}
    assert set(played(plan("--agent", "null", "--domain", "tau2/mock"))) == {"mock"}


def test_the_token_of_an_agent_comes_from_where_the_file_says_and_stays_there(
    write, shell, folder, monkeypatch
):
    log = RequestLog(scripted_agent(lambda text, context_id: "I cannot help with that."))
    with serve(log) as url:
        agent = f'[[agents]]\naddress = "{url}"\ntoken_env = "SHOP_TOKEN"\n'
        write(agent + ONE.partition("\n")[2])
        code, _, complaint = shell("run", "--offline", "--quiet")
        assert (code, "SHOP_TOKEN" in complaint) == (3, True)
        monkeypatch.setenv("SHOP_TOKEN", "hush-hush")
        assert shell("run", "--offline", "--quiet")[0] == 0
    assert {post.headers.get("authorization") for post in log.posts} == {"Bearer hush-hush"}
    assert "hush-hush" not in "".join(
        path.read_text() for path in (folder / "results").rglob("*.*")
    )


def test_a_run_is_resumed_with_the_tokens_and_models_of_its_file(
    write, shell, folder, monkeypatch, results_dir
):
    monkeypatch.setenv("SHOP_TOKEN", "hush-hush")
    log = RequestLog(scripted_agent(lambda text, context_id: "I cannot help with that."))

    def user(request):
        return "###STOP###" if "I cannot help" in json.dumps(request) else "Please help me."

    with serve(chat_model(user)) as model, serve(log) as url:
        monkeypatch.setenv("OPENAI_API_BASE", f"{model}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        write(
            f'[[agents]]\naddress = "{url}"\ntoken_env = "SHOP_TOKEN"\n'
            + ONE.partition("\n")[2]
            + '[models]\ndefault = "openai/tiny"\njudge = "openai/strict"\n'
        )
        code, _, complaint = shell("run", "--quiet")
        assert code == 0, complaint
        (run_id,) = run_ids(results_dir)
        assert load_manifest(results_dir, run_id).models == {
            "user": "openai/tiny",
            "judge": "openai/strict",
        }
        assert "- judge: openai/strict" in (results_dir / run_id / "report.md").read_text()
        before = len(log.posts)
        code, _, complaint = shell("resume", run_id, "--retry", "all", "--quiet")
        assert code == 0, complaint
    assert len(log.posts) > before > 0
    assert {post.headers.get("authorization") for post in log.posts} == {"Bearer hush-hush"}


def test_models_are_named_by_flags(shell, folder, monkeypatch, results_dir):
    asked = []

    def answer(request):
        asked.append(request["model"])
        return "###STOP###"

    with serve(chat_model(answer)) as model:
        monkeypatch.setenv("AGENTBEATS_LLM_BASE_URL", f"{model}/v1")
        code, _, complaint = shell(
            *("run", "--agent", "null", "--domain", "mock", "--num-tasks", "1", "--quiet"),
            *("--user-model", "actor", "--judge-model", "strict", "--model", "tiny"),
        )
        assert code == 0, complaint
    (run_id,) = run_ids(results_dir)
    report = load_report(results_dir, run_id)
    assert report.models == {"user": f"actor at {model}/v1", "judge": f"strict at {model}/v1"}
    assert report.plan.user_llm == "actor"
    assert {"actor", "tiny"} <= set(asked)


def test_gates_of_the_file_decide_the_exit_code(write, shell):
    write(ONE + "[gates]\nfail_under = 0.9\n")
    assert shell("run", "--offline", "--quiet")[0] == 1
    assert shell("run", "--offline", "--quiet", "--fail-under", "0")[0] == 0


def test_exports_of_the_file_are_written_after_the_run(write, shell, folder, results_dir):
    write(ONE + '[[exports]]\nto = "junit"\nout = "out/junit.xml"\n[[exports]]\nto = "csv"\n')
    code, out, _ = shell("run", "--offline", "--quiet")
    assert code == 0
    (run_id,) = run_ids(results_dir)
    assert "junit: out/junit.xml\n" in out
    assert (folder / "out" / "junit.xml").read_text().startswith("<?xml")
    assert (results_dir / run_id / "trials.csv").exists()


def test_an_export_that_cannot_be_written_is_exit_3_and_loses_no_run(
    write, shell, folder, results_dir
):
    write(
        ONE + '[[exports]]\nto = "csv"\nout = "greenroom.toml/x.csv"\n[[exports]]\nto = "junit"\n'
    )
    code, _, complaint = shell("run", "--offline", "--quiet")
    (run_id,) = run_ids(results_dir)
    assert code == 3
    assert "csv was not written" in complaint
    assert f"greenroom export {run_id} --to csv" in complaint
    assert load_report(results_dir, run_id).status == "complete"
    assert (results_dir / run_id / "junit.xml").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.parametrize("arguments", [("init", "--force"), ("run", "--offline", "--quiet")])
def test_a_folder_without_permission_is_exit_3(command, arguments):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "greenroom.toml").write_text(ONE)
        result = subprocess.run(
            ["setpriv", "--reuid=65534", "--clear-groups", *command(*arguments, python=INSTALLED)],
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
        )
    assert result.returncode == 3, result.stderr
    assert "ermission" in result.stderr
    assert "Traceback" not in result.stderr
