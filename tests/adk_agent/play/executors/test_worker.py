"""What two machines must have in common."""

from adk_agent.play.executors.worker import EnvironmentFingerprint


def test_what_differs_between_two_machines_is_named():
    here = EnvironmentFingerprint(
        versions={"greenroom": "1", "numpy": "2"}, revisions={"mock": "a"}
    )
    there = EnvironmentFingerprint(versions={"greenroom": "1", "numpy": "3"}, revisions={})
    assert here.differences(here) == []
    assert here.differences(there) == [
        "data of mock: a here, None there",
        "version of numpy: 2 here, 3 there",
    ]
