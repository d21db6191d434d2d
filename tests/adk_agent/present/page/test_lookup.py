"""What a page asks the installed benchmarks, and what it says of others."""

from adk_agent.present.page.lookup import Lookup
from tau_bridge.benchmark import Benchmark, DomainInfo
from tau_bridge.benchmarks import Benchmarks


class Shop(Benchmark):
    """One tool of its first task writes."""

    name = "shop"

    def domains(self):
        meanings = {"PAID": "nothing was paid"}
        return (DomainInfo(name="till", components=("PAID", "SAID"), meanings=meanings),)

    def tasks(self, domain, split="base"):
        return ()

    async def play(self, ref, agent, context):
        raise NotImplementedError

    async def score(self, ref, played, judge):
        raise NotImplementedError

    def writes(self, ref):
        return lambda name: (ref.domain, ref.id, name) == ("till", "first", "pay")


INSTALLED = Lookup(benchmarks=Benchmarks([Shop()]))
NOTHING = Lookup(benchmarks=Benchmarks([]))


def test_a_benchmark_says_which_tools_of_a_task_write():
    assert INSTALLED.writes("till", "first")("pay")
    assert not INSTALLED.writes("till", "first")("look")
    assert not INSTALLED.writes("till", "second")("pay")


def test_no_tool_of_a_benchmark_that_is_not_installed_is_known_to_write():
    assert not NOTHING.writes("till", "first")("pay")


def test_a_component_means_what_its_benchmark_says_or_is_called_by_its_name():
    assert INSTALLED.meaning("till", "PAID") == "nothing was paid"
    assert INSTALLED.meaning("till", "SAID") == "SAID"
    assert NOTHING.meaning("till", "PAID") == "PAID"
    assert INSTALLED.meaning("elsewhere", "PAID") == "PAID"


def test_bundled_benchmarks_tell_the_writes_of_their_tasks(benchmarks):
    bundled = Lookup(benchmarks=benchmarks)
    assert bundled.writes("mock", "create_task_1")("create_task")
    assert not bundled.writes("mock", "create_task_1")("get_users")
    assert not bundled.writes("business", "there is no such scenario")("approve")
