"""What an agent reports in one turn is added up, and a report that arrives twice counts once."""

from typing import Any

from a2a.helpers import new_message, new_text_part
from a2a.types import (
    Artifact,
    Message,
    Role,
    StreamResponse,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)

from tau_bridge.a2a.turn_usage import TurnUsage

WORKING = TaskState.TASK_STATE_WORKING
COMPLETED = TaskState.TASK_STATE_COMPLETED


def used(tokens: int, **others: Any) -> dict[str, Any]:
    return {"usage": {"total_tokens": tokens}, **others}


def message(key: str, metadata: dict[str, Any] | None = None, role: Role | None = None) -> Message:
    made = new_message([new_text_part("hi")], context_id="c", role=role or Role.ROLE_AGENT)
    made.message_id = key
    made.metadata.update(metadata or {})
    return made


def artifact(key: str, metadata: dict[str, Any]) -> Artifact:
    return Artifact(artifact_id=key, parts=[new_text_part("hi")], metadata=metadata)


def of_artifact(key: str, metadata: dict[str, Any], *, append: bool = False) -> StreamResponse:
    update = TaskArtifactUpdateEvent(
        task_id="t", context_id="c", artifact=artifact(key, metadata), append=append
    )
    return StreamResponse(artifact_update=update)


def of_status(
    metadata: dict[str, Any] | None = None, said: Message | None = None
) -> StreamResponse:
    update = TaskStatusUpdateEvent(
        task_id="t",
        context_id="c",
        status=TaskStatus(state=WORKING, message=said),
        metadata=metadata,
    )
    return StreamResponse(status_update=update)


def of_task(said: Message | None = None, **fields: Any) -> StreamResponse:
    status = TaskStatus(state=COMPLETED, message=said)
    return StreamResponse(task=Task(id="t", context_id="c", status=status, **fields))


def total(*events: StreamResponse, after: TurnUsage | None = None) -> int | None:
    usage = TurnUsage(None if after is None else after.places())
    for event in events:
        usage.add(event)
    return usage.total().total_tokens


def test_a_bare_message_has_its_usage() -> None:
    assert total(StreamResponse(message=message("m", used(7)))) == 7


def test_the_updates_of_a_turn_add_up() -> None:
    assert total(of_status(used(1)), of_status(used(1)), of_artifact("a", used(5))) == 7


def test_an_update_and_its_message_are_one_report() -> None:
    assert total(of_status(used(7), message("m", used(7)))) == 7


def test_the_status_is_not_counted_again_in_the_history_of_the_task() -> None:
    said = message("m", used(7))
    again = of_task(history=[message("u", role=Role.ROLE_USER), said], metadata=used(7))
    assert total(of_status(said=said), again) == 7


def test_history_counts_from_the_last_message_of_the_user() -> None:
    history = [message("old", used(100)), message("u", role=Role.ROLE_USER), message("m", used(7))]
    assert total(of_task(message("n", used(5)), history=history)) == 12


def test_the_metadata_of_the_task_count_where_nothing_else_does() -> None:
    assert total(of_task(metadata=used(7), artifacts=[artifact("a", {})])) == 7
    assert total(of_task(metadata=used(7), artifacts=[artifact("a", used(9))])) == 9


def test_chunks_of_an_artifact_are_one_report_and_the_last_one_counts() -> None:
    chunks = [of_artifact("a", used(3)), of_artifact("a", used(8), append=True)]
    assert total(*chunks, of_task(artifacts=[artifact("a", used(8))])) == 8


def test_an_unusable_report_does_not_replace_a_usable_one() -> None:
    assert total(of_artifact("a", used(3)), of_artifact("a", used(-1), append=True)) == 3


def test_one_event_of_google_adk_counts_once_however_many_messages_it_became() -> None:
    first = of_status(used(7, adk_event_id="e1"), message("m1"))
    second = of_status(used(7, adk_event_id="e1"), message("m2"))
    third = of_status(used(5, adk_event_id="e2"), message("m3"))
    assert total(first, second, third) == 12


def test_a_task_that_goes_on_does_not_report_its_earlier_turns_again() -> None:
    first = TurnUsage()
    first.add(of_task(message("q", used(4)), artifacts=[artifact("a", used(7))]))
    again = of_task(message("q", used(4)), artifacts=[artifact("a", used(7))])
    assert total(again, after=first) is None
    more = of_task(
        message("q2", used(4)), artifacts=[artifact("a", used(7)), artifact("b", used(2))]
    )
    assert total(again, more, after=first) == 6


def test_a_task_with_the_same_metadata_as_before_reports_nothing_new() -> None:
    first = TurnUsage()
    first.add(of_task(metadata=used(7)))
    assert total(of_task(metadata=used(7)), after=first) is None
    assert total(of_task(metadata=used(8)), after=first) == 8


def test_what_cannot_be_json_is_left_out_and_counted() -> None:
    usage = TurnUsage()
    usage.add(of_status({"usage": {"total_tokens": float("nan"), "prompt_tokens": {"deep": 1}}}))
    assert (usage.total().total_tokens, usage.total().ignored) == (None, 2)


def test_a_message_of_an_earlier_task_in_a_history_is_not_counted_again():
    first = TurnUsage()
    first.add(of_task(said=message("one", used(100))))
    asked = message("we", role=Role.ROLE_USER)
    again = TurnUsage(earlier=first.of_messages())
    again.add(of_task(said=message("two", used(200)), history=[message("one", used(100))]))
    assert again.total().total_tokens == 200
    # One id for all messages is wrong; still, what is said now is new.
    same = TurnUsage(earlier=first.of_messages())
    same.add(of_task(said=message("one", used(100)), history=[asked]))
    assert same.total().total_tokens == 100
