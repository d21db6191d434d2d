"""Workers and interpreters that are not as they should be."""

import pickle
import sys

import pytest

from tau_bridge.errors import DataError, HarnessError
from tau_bridge.tau2.benchmark import PYTHON, Tau2Benchmark
from tau_bridge.tau2.data import open_source
from tau_bridge.tau2.engine.process import EngineLimits
from tests.tau_bridge.tau2.engine.conftest import CHECKOUT, Agent, say

READY = "say('ready', **ready)\n"


def prepare(benchmark):
    benchmark.prepare([benchmark.ref("mock", "a")])


def test_without_an_interpreter_the_option_says_what_to_set(belfry):
    with pytest.raises(DataError, match="set TAU2_PYTHON to the interpreter"):
        Tau2Benchmark(open_source(belfry)).with_options({"engine": "official"})


def test_the_variable_alone_changes_nothing_but_adds_domains(belfry, interpreter):
    variables = {"TAU2_DATA_DIR": str(belfry), PYTHON: interpreter()}
    benchmark = Tau2Benchmark.open(variables)
    assert benchmark.revision("mock").source == "official"
    assert {"mock", "telecom-workflow"} < {each.name for each in benchmark.domains()}
    assert "--engine official" in benchmark.unsupported("telecom-workflow")


@pytest.mark.parametrize(
    ("python", "message"),
    [
        ("/nowhere/python", "which cannot be started (No such file or directory)"),
        (sys.executable, "this interpreter has no package tau2"),
        ("/bin/echo", "which did not answer as an interpreter does (exit code 0)"),
    ],
)
def test_an_interpreter_that_cannot_play_is_refused_before_a_run(opened, python, message):
    with pytest.raises(DataError) as refused:
        opened(python)
    assert message in str(refused.value)


def test_another_package_of_the_same_name_and_releases_without_a_runner_are_refused(
    opened, interpreter, tmp_path
):
    (tmp_path / "old" / "tau2").mkdir(parents=True)
    (tmp_path / "old" / "tau2" / "__init__.py").touch()
    with pytest.raises(DataError, match=r"no runner/build.py.* older than 1\.0\.0"):
        opened(interpreter(tmp_path / "old"))


def test_missing_data_are_refused_with_what_to_set(interpreter, belfry, tmp_path):
    variables = {"TAU2_DATA_DIR": str(belfry), PYTHON: interpreter()}
    benchmark = Tau2Benchmark.open(variables)
    elsewhere = Tau2Benchmark(benchmark.source, type(benchmark.engine)(interpreter(), tmp_path))
    with pytest.raises(DataError, match=r"holds no tau2/domains: set TAU2_DATA_DIR"):
        elsewhere.with_options({"engine": "official"})


def test_a_checkout_whose_metadata_lie_is_named_by_its_source(opened, interpreter, tmp_path):
    claim = tmp_path / "lie" / "tau2-9.9.dist-info"
    claim.mkdir(parents=True)
    (claim / "METADATA").write_text("Metadata-Version: 2.1\nName: tau2\nVersion: 1.0.1\n")
    revision = opened(interpreter(f"{CHECKOUT / 'src'}:{claim.parent}")).revision("mock")
    assert revision.source == "official-engine"
    assert "of unknown source (calls itself 1.0.1), code sha256:" in revision.revision


def test_a_known_source_is_named_whatever_the_metadata_say(opened, speaker):
    benchmark = opened(speaker("", tau2="0.2.1-dev", code="sha256:ecafe71987113361"))
    assert benchmark.revision("mock").revision.startswith("tau2-bench 1.0.1, code sha256:ecafe")


def test_another_version_of_the_protocol_is_refused(opened, speaker):
    with pytest.raises(DataError, match="speaks version 2 of the protocol"):
        opened(speaker("", protocol=2))


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("sys.exit(3)", "its process ended with exit code 3"),
        ("print('oops', file=sys.stderr); os.kill(os.getpid(), 9)", "killed by signal 9; its last words: oops"),
        ("print('Hello')", "it wrote"),
        ("print('[1]')", "a line that is no message"),
        ("say('error', kind='ImportError', text='no scipy', phase='import')", "ImportError: no scipy"),
        ("say('ready', **dict(ready, features=['fork']))", "it has no retrieval, runner"),
        ("say('ready', **dict(ready, code='sha256:3'))", "have changed since this run was planned"),
        ("say('ready', **dict(ready, protocol=2))", "speaks version 2 of the protocol"),
    ],
)  # fmt: skip
def test_a_worker_that_does_not_start_ends_the_run_with_the_reason(opened, speaker, code, message):
    with pytest.raises((HarnessError, DataError)) as failed:
        prepare(opened(speaker(code)))
    assert message in str(failed.value)


def test_a_worker_that_imports_for_too_long_ends_the_run(opened, speaker):
    limits = EngineLimits(start_s=0.5)
    with pytest.raises(HarnessError, match=r"did not import tau2-bench within 0\.5 s"):
        prepare(opened(speaker("signal.pause()"), limits=limits))


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("sys.stdin.readline(); sys.exit(1)", "its process ended with exit code 1"),
        ("sys.stdin.readline(); print('a stray print')", "it wrote"),
        ("sys.stdin.readline(); say('dance', sim='1'); sys.stdin.read()", "sent 'dance'"),
    ],
)
async def test_a_worker_that_breaks_in_mid_trial_fails_the_trial(
    opened, speaker, play, code, message
):
    played, _ = await play(opened(speaker(READY + code)), Agent(say("Hello.")))
    assert message in str(played.error)
    assert (played.termination, played.error.fault) == ("infrastructure_error", "harness")


async def test_an_engine_that_answers_nothing_any_more_is_stopped(opened, speaker, play):
    limits = EngineLimits(silence_s=0.5, ping_s=0.5)
    benchmark = opened(speaker(READY + "signal.pause()"), limits=limits)
    played, _ = await play(benchmark, Agent(say("Hello.")))
    assert "computed for 0.5 s without a word" in str(played.error)
    assert not benchmark.engine._process.alive


async def test_a_broken_worker_is_replaced_for_the_next_trial(opened, speaker, play, tmp_path):
    first = tmp_path / "first"
    benchmark = opened(
        speaker(
            READY
            + f"if not os.path.exists({str(first)!r}): open({str(first)!r}, 'w'); sys.exit(1)\n"
            "sys.stdin.readline(); say('error', sim='1', kind='X', text='the second', phase='build')\n"
            "sys.stdin.read()"
        )
    )
    one, _ = await play(benchmark, Agent(say("Hello.")))
    two, _ = await play(benchmark, Agent(say("Hello.")))
    assert "exit code 1" in str(one.error)
    assert str(two.error) == (
        "the official engine failed while making the environment: X: the second"
    )


def test_a_pickled_benchmark_starts_its_own_process(opened, interpreter):
    copied = pickle.loads(pickle.dumps(opened(interpreter())))  # noqa: S301 - our own
    assert copied.revision("mock").source == "official-engine"
    assert copied.options.engine == "official"
