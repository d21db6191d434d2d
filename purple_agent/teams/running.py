"""RunningTeam: a reference team as A2A servers, one application per member."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import httpx
from a2a.helpers import new_text_message
from a2a.server.context import ServerCallContext
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.types import AgentCard, AgentExtension, AgentSkill, Message, Task, TaskState
from a2a.utils.errors import InvalidParamsError
from starlette.applications import Starlette

from purple_agent.card import agent_card
from purple_agent.errors import MemberFailedError, WiringError, nearest
from purple_agent.extension_headers import EitherHeader
from purple_agent.handler import TasklessHandler, read_turn
from purple_agent.sockets import Listener
from purple_agent.teams.member import HangUp, RunConditions, TeamMember
from purple_agent.teams.naming import parse_team
from purple_agent.teams.peers import CALL_KEY, Peers, metadata_of, new_http_client
from purple_agent.teams.plan import Member, Team
from purple_agent.teams.tracing import TRACEABILITY_KEY, TRACEABILITY_URI, read_place

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


class RunningTeam:
    """A team's members as ASGI applications that know each other's addresses.

    Args:
        team: From `purple_agent.teams.naming.parse_team`.
        urls: The address of each member, at which the others reach it.
        http: From `purple_agent.teams.peers.new_http_client`; stays open.
        conditions: Clock, seed and the like.
        entry_url: The address in the entry's card, if not the one in `urls`.
        streaming: Offer streams in the cards; a reply is one message either way.
    """

    def __init__(
        self,
        team: Team,
        urls: Mapping[str, str],
        *,
        http: httpx.AsyncClient,
        conditions: RunConditions | None = None,
        entry_url: str | None = None,
        streaming: bool = False,
    ) -> None:
        self._team = team
        self._peers = {name: Peers(http, urls) for name in team.roster}
        self.apps: dict[str, ASGIApp] = {}
        """The ASGI app of each member."""
        for member in team.members:
            own = entry_url if entry_url and member.name == team.entry else f"{urls[member.name]}/"
            agent = TeamMember(member, team, self._peers[member.name], conditions)
            card = _card(member, team, url=own, streaming=streaming)
            self.apps[member.name] = _app(MemberHandler(agent, streaming=streaming), card)

    def wire(self, routes: Any) -> None:
        """Make members reach their peers at other addresses from now on.

        Args:
            routes: `{member: {peer: address}}`. Peers that are not named keep their address.

        Raises:
            WiringError: A name is unknown or an address is invalid. Then nothing has changed.
        """
        for member, addresses in _object(routes, "the team").items():
            self._known(member)
            for peer, url in _object(addresses, member).items():
                self._known(peer)
                if not isinstance(url, str) or not url.startswith(("http://", "https://")):
                    raise WiringError(f"{member!r} cannot reach {peer!r}: not an http(s) address")
        for member, addresses in routes.items():
            self._peers[member].route(addresses)

    def _known(self, name: str) -> None:
        if name not in self._peers:
            raise WiringError(
                f"unknown member {name!r} of team {self._team.name!r}: {nearest(name, self._peers)}"
            )


class RunningTeams:
    """All teams of one process, on their sockets. An async context manager.

    Args:
        team_listeners: The socket of each member, by the team's full name with faults.
        seed: Selects the calls that faults with a share hit.
        entry_url: See `RunningTeam`.
        streaming: See `RunningTeam`.
    """

    def __init__(
        self,
        team_listeners: Mapping[str, Mapping[str, Listener]],
        *,
        seed: int = 0,
        entry_url: str | None = None,
        streaming: bool = False,
    ) -> None:
        self._team_listeners = team_listeners
        self._http = new_http_client() if team_listeners else None
        self._teams = {
            name: RunningTeam(
                parse_team(name),
                urls,
                http=self._http,
                conditions=RunConditions(seed=seed),
                entry_url=entry_url,
                streaming=streaming,
            )
            for name, urls in self.urls().items()
            if self._http is not None
        }

    def urls(self) -> dict[str, dict[str, str]]:
        """Return the address of each member of each team."""
        return {
            name: {member: listener.url for member, listener in members.items()}
            for name, members in self._team_listeners.items()
        }

    def apps(self) -> list[tuple[Listener, ASGIApp]]:
        """Return every member's application and the socket to serve it on."""
        return [
            (listener, self._teams[name].apps[member])
            for name, members in self._team_listeners.items()
            for member, listener in members.items()
        ]

    def wire(self, routes: Any) -> None:
        """Make members reach their peers at other addresses: `{team: {member: {peer: address}}}`.

        Raises:
            WiringError: See `RunningTeam.wire`; or the team is not served here.
        """
        for name, members in _object(routes, "all teams").items():
            if name not in self._teams:
                raise WiringError(f"unknown team {name!r}: {nearest(name, self._teams)}")
            self._teams[name].wire(members)

    async def __aenter__(self) -> Self:
        """Do nothing, because connections between members are made on demand."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the connections between members."""
        if self._http is not None:
            await self._http.aclose()


class MemberHandler(TasklessHandler):
    """Answers for one member of a team."""

    def __init__(self, member: TeamMember, *, streaming: bool = False) -> None:
        super().__init__(streaming=streaming)
        self._member = member

    async def answer(self, message: Message, context: ServerCallContext) -> Task | Message:
        """Return the member's reply, with its ResponseTrace if requested."""
        turn = read_turn(message)
        try:
            place = read_place(metadata_of(message).get(CALL_KEY))
        except ValueError as exc:
            raise InvalidParamsError(message=f"The metadata is not JSON: {exc}") from exc
        try:
            said = await self._member.reply(turn.text, place=place, context_id=turn.context_id)
        except MemberFailedError as exc:
            return self.end(TaskState.TASK_STATE_FAILED, str(exc), context_id=turn.context_id)
        reply = new_text_message(said.text, context_id=turn.context_id)
        if TRACEABILITY_URI in context.requested_extensions:
            reply.metadata.update({TRACEABILITY_KEY: said.trace})
            reply.extensions.append(TRACEABILITY_URI)
        return reply


def _app(handler: MemberHandler, card: AgentCard) -> ASGIApp:
    routes = create_jsonrpc_routes(
        handler,
        "/",
        context_builder=EitherHeader(),
        enable_v0_3_compat=True,
    )
    inner = Starlette(routes=[*create_agent_card_routes(card), *routes])

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await inner(scope, receive, send)
        except HangUp:
            # The server closes a connection whose body is shorter than its content-length.
            headers = [(b"content-length", b"1")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})

    return app


def _card(member: Member, team: Team, *, url: str, streaming: bool) -> AgentCard:
    skills = [
        AgentSkill(id=name, name=name.replace("_", " "), description=name, tags=["coordination"])
        for name in member.skills or ("coordination",)
    ]
    return agent_card(
        name=f"greenroom {team.name} {member.name}",
        description=f"{member.name} of the reference team {team.name}. {team.description}",
        url=url,
        streaming=streaming,
        skills=skills,
        extensions=[AgentExtension(uri=TRACEABILITY_URI, description="Reports its steps.")],
    )


def _object(value: Any, of: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise WiringError(
            f"the addresses of {of!r} are not a JSON object: give {{member: {{peer: address}}}}"
        )
    return value
