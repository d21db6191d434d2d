"""`greenroom serve`, and `python -m adk_agent`."""

from __future__ import annotations

import argparse
import logging
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from adk_agent.cli import values
from adk_agent.cli.edge import OK
from adk_agent.cli.flags import add_otlp, checked_card_url
from adk_agent.core.errors import RequestError
from adk_agent.core.files import require_writable
from adk_agent.core.settings import Settings
from adk_agent.service.agent_card import service_card
from adk_agent.service.callers import Callers
from adk_agent.service.listening import address_of, bound_socket, is_loopback
from adk_agent.service.options import GrpcAddress, ServiceOptions, parse_task_store
from adk_agent.service.playing.spawning import spawn
from adk_agent.service.serving import serve

if TYPE_CHECKING:
    from adk_agent.service.loading_app import Service
    from tau_bridge.a2a.policy import NetworkPolicy

logger = logging.getLogger(__name__)

ANYBODY = (
    "the service listens on %s without authentication: anyone who can reach it may use it; set "
    "GREENROOM_AUTH_TOKEN to require a token"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the A2A server, the same for `python -m adk_agent`."""
    parser.description = "Serve the green agent over A2A."
    parser.add_argument(
        "--host", help="address to listen on (default: $GREENROOM_HOST, else 127.0.0.1)"
    )
    parser.add_argument("--port", type=values.port, default=None, help="default: $PORT, else 8000")
    parser.add_argument("--card-url", metavar="URL", help="the address in the agent card")
    parser.add_argument(
        "--task-store",
        default="memory",
        metavar="STORE",
        help="where tasks are kept: memory (default) or sqlite:PATH",
    )
    add_otlp(parser)
    parser.add_argument(
        "--grpc-port",
        type=values.port,
        metavar="PORT",
        help="serve gRPC too, on this port (needs the extra grpc)",
    )


def execute(parsed: argparse.Namespace) -> int:
    """Serve the green agent until it is stopped."""
    settings = Settings.load(otlp_port=parsed.otlp_port, otlp_grace_s=parsed.otlp_grace)
    require_writable(settings.results_dir)
    parsed.host = parsed.host or settings.host
    port = settings.port if parsed.port is None else parsed.port
    card_url = checked_card_url(parsed.card_url)
    listener = bound_socket(parsed.host, port)  # before anything slow
    with listener:
        here = address_of(listener)
        url = card_url or here
        options = _options(settings, parsed, url)
        if not options.callers and not is_loopback(parsed.host):
            logger.warning(ANYBODY, parsed.host)
        network = network_policy(settings, parsed.host)

        def load() -> Service:
            """Do the slow imports while the card is already served."""
            spawned = spawn(with_adk=not settings.by_rules)
            from adk_agent.assembly import Assembly
            from adk_agent.service.playing.process import ProcessBackend
            from adk_agent.service.server import build_service

            # Whoever reaches the service is at this machine, unless a proxy passes others on.
            alone = is_loopback(parsed.host) and not options.callers
            assembly = Assembly(
                settings=settings,
                network=network,
                may_register=alone,
                may_see_all_runs=alone and is_loopback(urlsplit(url).hostname or ""),
            )
            backend = ProcessBackend(
                assembly, own_addresses={url, here}, secrets=options.callers.tokens, spawned=spawned
            )
            return build_service(assembly, card_url=url, options=options, backend=backend)

        serve(
            load,
            listener,
            card=service_card(url, options),
            limits=options.limits,
            secrets=(*options.callers.tokens, *settings.secrets()),
        )
    return OK


def network_policy(settings: Settings, host: str) -> NetworkPolicy:
    """Return the policy on addresses that a service listening on this host may call.

    Otherwise callers of a public service could explore its network.

    Raises:
        RequestError: GREENROOM_ALLOWED_HOSTS has an entry that is not a host.
    """
    from tau_bridge.a2a.policy import NetworkPolicy

    allowed = settings.allowed_host_list
    try:
        if is_loopback(host):
            return NetworkPolicy.open(allowed=allowed)
        return NetworkPolicy.public(allowed=allowed)
    except ValueError as error:
        raise RequestError(f"GREENROOM_ALLOWED_HOSTS: {error}") from error


def _options(settings: Settings, parsed: argparse.Namespace, url: str) -> ServiceOptions:
    return ServiceOptions(
        tasks=parse_task_store(parsed.task_store),
        callers=Callers.of(settings.auth_token),
        grpc=None if parsed.grpc_port is None else _grpc_address(parsed, url),
    )


def _grpc_address(parsed: argparse.Namespace, url: str) -> GrpcAddress:
    from adk_agent.service.grpc_server import make_sure_that_installed

    make_sure_that_installed()
    with bound_socket(parsed.host, parsed.grpc_port, flag="--grpc-port") as probe:
        port = probe.getsockname()[1]
    host = urlsplit(url).hostname or parsed.host
    shown = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return GrpcAddress(host=parsed.host, port=port, shown=shown)
