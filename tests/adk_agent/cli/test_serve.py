"""`greenroom serve`: what it refuses before it listens."""

import pytest

from tau_bridge.testing import closed_port

pytestmark = pytest.mark.usefixtures("quick_start")


@pytest.mark.parametrize("port", ["-1", "99999", "http"])
def test_what_is_no_port_is_exit_2(greenroom, assert_complains, port):
    assert_complains(greenroom("serve", "--port", port), 2, "--port")
    assert_complains(greenroom("agent", "null", "--port", port), 2, "--port")
    assert_complains(greenroom("serve", PORT=port), 2, "PORT")


def test_a_port_in_use_is_exit_3(greenroom, assert_complains):
    with closed_port() as url:
        port = url.rpartition(":")[2]
        assert_complains(greenroom("serve", "--port", port), 3, port)
        assert_complains(greenroom("agent", "null", "--port", port), 3, port)
