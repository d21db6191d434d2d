"""The socket that the service listens on."""

import pytest

from adk_agent.cli.main import main
from adk_agent.service.listening import bound_socket


@pytest.mark.parametrize("flag", ["--port", "--grpc-port"])
def test_a_port_in_use_is_named(flag, capsys):
    if flag == "--grpc-port":
        pytest.importorskip("grpc", reason="the extra grpc is not installed: make setup_all")
    with bound_socket("127.0.0.1", 0) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        arguments = ["--port", "0", flag, str(port)]
        assert main(["serve", *arguments]) == 3
    said = capsys.readouterr().err
    assert said == (
        f"greenroom: cannot listen on 127.0.0.1:{port}: the port is in use; choose another {flag}\n"
    )
