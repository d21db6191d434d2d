"""The gRPC interface, with a real client."""

import math

import httpx
import pytest
from a2a.types import (
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    TaskState,
)
from google.protobuf.struct_pb2 import Struct, Value
from pydantic import SecretStr

from adk_agent.service.callers import Callers
from adk_agent.service.limits import RequestLimits
from adk_agent.service.listening import bound_socket
from adk_agent.service.options import GrpcAddress

pytestmark = pytest.mark.extras
grpc = pytest.importorskip("grpc", reason="the extra grpc is not installed: make setup_all")


@pytest.fixture
def serve_grpc(serve_edge):
    def serve(**options):
        with bound_socket("127.0.0.1", 0) as probe:
            port = probe.getsockname()[1]
        at = GrpcAddress(host="127.0.0.1", port=port, shown=f"127.0.0.1:{port}")
        return serve_edge(grpc=at, **options), at.shown

    return serve


def request(text):
    message = Message(message_id="m", role=Role.ROLE_USER, parts=[Part(text=text)])
    return SendMessageRequest(message=message)


def stub(channel):
    from a2a.types import a2a_pb2_grpc

    return a2a_pb2_grpc.A2AServiceStub(channel)


def test_the_card_names_it(serve_grpc):
    address, where = serve_grpc()
    card = httpx.get(f"{address}/.well-known/agent-card.json").json()
    offered = [each for each in card["supportedInterfaces"] if each["protocolBinding"] == "GRPC"]
    assert [(each["url"], each["protocolVersion"]) for each in offered] == [
        (where, "1.0"),
        (where, "0.3"),
    ]


def test_a_task_is_sent_streamed_and_read(serve_grpc):
    _, where = serve_grpc()
    with grpc.insecure_channel(where) as channel:
        service = stub(channel)
        task = service.SendMessage(request("report")).task
        assert task.status.state == TaskState.TASK_STATE_COMPLETED
        events = [
            event.WhichOneof("payload") for event in service.SendStreamingMessage(request("x"))
        ]
        assert events == ["task", "status_update", "status_update"]
        assert service.GetTask(GetTaskRequest(id=task.id)).id == task.id


def test_errors_have_the_codes_of_grpc_and_no_secrets(serve_grpc, edge):
    _, where = serve_grpc()
    with grpc.insecure_channel(where) as channel:
        service = stub(channel)
        with pytest.raises(grpc.RpcError) as missing:
            service.CancelTask(CancelTaskRequest(id="nobody"))
        with pytest.raises(grpc.RpcError) as broken:
            service.SendMessage(request("break"))
    assert missing.value.code() == grpc.StatusCode.NOT_FOUND
    assert broken.value.code() == grpc.StatusCode.INTERNAL
    assert edge.SECRET not in str(broken.value)


def test_a_token_is_needed_and_keeps_tasks_apart(serve_grpc, connect):
    address, where = serve_grpc(callers=Callers.of(SecretStr("one-token,two-token")))
    mine, hers = ([("authorization", f"Bearer {token}")] for token in ("one-token", "two-token"))
    with grpc.insecure_channel(where) as channel:
        service = stub(channel)
        for metadata in ([], [("authorization", "Bearer wrong")]):
            with pytest.raises(grpc.RpcError) as refused:
                service.SendMessage(request("x"), metadata=metadata)
            assert refused.value.code() == grpc.StatusCode.UNAUTHENTICATED
        task = service.SendMessage(request("x"), metadata=mine).task
        with pytest.raises(grpc.RpcError) as hidden:
            service.GetTask(GetTaskRequest(id=task.id), metadata=hers)
        assert hidden.value.code() == grpc.StatusCode.NOT_FOUND
    assert connect(address, "one-token").get(task.id)["result"]["id"] == task.id


def test_a_huge_message_is_refused(serve_grpc):
    _, where = serve_grpc(limits=RequestLimits(body_bytes=10_000))
    with grpc.insecure_channel(where) as channel, pytest.raises(grpc.RpcError) as refused:
        stub(channel).SendMessage(request("x" * 20_000))
    assert refused.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED


@pytest.mark.parametrize("number", [math.nan, math.inf])
@pytest.mark.parametrize("method", ["SendMessage", "SendStreamingMessage"])
def test_a_number_that_json_does_not_have_is_refused_and_spoils_no_list(serve_grpc, number, method):
    _, where = serve_grpc()
    value = Value(number_value=number)
    in_data = Message(message_id="m", role=Role.ROLE_USER, parts=[Part(data=value)])
    in_metadata = Message(message_id="m", role=Role.ROLE_USER, parts=[Part(text="x")])
    in_metadata.metadata.CopyFrom(Struct(fields={"a": value}))
    with grpc.insecure_channel(where) as channel:
        service = stub(channel)
        for message in (in_data, in_metadata):
            with pytest.raises(grpc.RpcError) as refused:
                list(getattr(service, method)(SendMessageRequest(message=message)))
            assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT
            assert "cannot be written as JSON" in refused.value.details()
        assert not service.ListTasks(ListTasksRequest()).tasks
