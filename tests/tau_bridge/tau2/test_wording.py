"""How requests spell the domains and the benchmark."""

import pytest

from tau_bridge.tau2.wording import with_domains


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("airlines, air-line and air lines", "airline, airline and airline"),
        ("retail's and telecoms", "retail and telecom"),
        ("the τ²-bench suite", "the tau2 bench suite"),
        ("tau2-bench airline tasks", "tau2 bench airline tasks"),
        ("tau-bench", "tau2 bench"),
        ("on tau2 tasks", "on tau2 tasks"),
        ("a tauren agent", "a tauren agent"),
        ("http://tau2.example", "http://tau2.example"),
        ("five mock tasks", "five mock tasks"),
        ("mock the api", "such api"),
        ("with mock data", "with such"),
    ],
)
def test_domains_and_benchmark_get_their_names(said, meant):
    assert with_domains(said).split() == meant.split()
