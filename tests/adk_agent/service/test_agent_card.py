"""What the card names."""

import httpx
import pytest
from a2a.server.request_handlers.response_helpers import agent_card_to_dict
from pydantic import SecretStr

from adk_agent.cli.main import main
from adk_agent.requests.by_rules import read_intent
from adk_agent.requests.find_tasks import TaskSearch
from adk_agent.requests.intent import Ask, OffTopic, Refuse, Situation
from adk_agent.requests.language.vocabulary import Vocabulary
from adk_agent.requests.planning import resolve
from adk_agent.service.agent_card import (
    ASSESSMENT,
    FOLLOW_UPS,
    TEAMS,
    build_card,
    card_json,
    evaluate_skill,
)
from adk_agent.service.callers import CARD_PATHS, Callers
from tau_bridge.a2a.extensions import TIMESTAMP_SAMPLE_URI, TIMESTAMP_URI, TRACEABILITY_URI


def test_the_card_names_both_bindings_for_both_versions(client):
    card = client.http.get(CARD_PATHS[0]).json()
    offered = [
        (each["protocolBinding"], each["protocolVersion"], each["url"])
        for each in card["supportedInterfaces"]
    ]
    assert offered == [
        ("JSONRPC", "1.0", "http://127.0.0.1:1/"),
        ("HTTP+JSON", "1.0", "http://127.0.0.1:1"),
        ("JSONRPC", "0.3", "http://127.0.0.1:1/"),
        ("HTTP+JSON", "0.3", "http://127.0.0.1:1"),
    ]
    assert (card["url"], card["preferredTransport"]) == ("http://127.0.0.1:1/", "JSONRPC")


def test_the_path_of_a_proxy_is_kept(serve_edge):
    address = serve_edge("https://agents.example/green/")
    card = httpx.get(address + CARD_PATHS[0]).json()
    assert {each["url"] for each in card["supportedInterfaces"]} == {
        "https://agents.example/green/",
        "https://agents.example/green",
    }


@pytest.mark.requirement("a2a:card-extensions")
def test_the_card_names_the_extensions_in_every_spelling_and_push_notifications(client):
    capabilities = client.http.get(CARD_PATHS[0]).json()["capabilities"]
    uris = {extension["uri"] for extension in capabilities["extensions"]}
    assert uris == {TRACEABILITY_URI, TIMESTAMP_URI, TIMESTAMP_SAMPLE_URI}
    assert capabilities["streaming"] is True
    assert capabilities["pushNotifications"] is True


def test_the_examples_of_benchmarks_are_understood_as_they_stand(read, benchmarks):
    skill = evaluate_skill()
    plans = [resolve(read(example), benchmarks) for example in skill.examples]
    played = {benchmarks.of(domain).name for plan in plans for domain in plan.domains}
    assert played == {each.name for each in benchmarks.all if each.domains()} == set(skill.tags[2:])


@pytest.mark.parametrize("skill", [TEAMS, ASSESSMENT], ids=lambda skill: skill.id)
def test_the_examples_of_the_skills_are_understood_with_any_domain(skill, read, benchmarks):
    assert skill.examples
    for example in skill.examples:
        for domain in benchmarks.domains:
            plan = resolve(read(example.replace("<domain>", domain)), benchmarks)
            assert plan.domains == (domain,)


def test_the_examples_of_follow_ups_are_understood_as_they_stand(benchmarks):
    vocabulary, finder = Vocabulary.of(benchmarks), TaskSearch(benchmarks)
    for example in FOLLOW_UPS.examples:
        intent = read_intent(example, Situation(), vocabulary=vocabulary, finder=finder)
        assert not isinstance(intent, Ask | Refuse | OffTopic), example


@pytest.mark.parametrize("skill", [TEAMS], ids=lambda skill: skill.id)
def test_an_example_that_is_sent_as_it_stands_is_answered_with_the_domains(skill, capsys):
    for example in skill.examples:
        assert main(["run", example, "--dry-run", "--offline"]) == 2
        assert "mock, retail, telecom, coordination, business" in capsys.readouterr().err


def test_the_card_before_everything_is_loaded_is_the_one_that_comes_after():
    """While the service loads, its card is made without a2a-sdk's own function for it."""
    for token in (True, False):
        card = build_card(
            "https://a.example/x/", version="1", grpc_url="a.example:5", needs_token=token
        )
        assert card_json(card) == agent_card_to_dict(card)


def test_the_card_is_at_each_of_its_paths(client):
    cards = [client.http.get(path) for path in CARD_PATHS]
    assert [card.status_code for card in cards] == [200, 200, 200]
    assert cards[0].json() == cards[1].json() == cards[2].json()
    assert cards[0].headers["cache-control"] == "public, max-age=60"
    again = client.http.get(CARD_PATHS[0], headers={"If-None-Match": cards[0].headers["etag"]})
    assert again.status_code == 304


def test_the_card_names_a_security_scheme_where_a_token_is_needed(client, serve_edge):
    assert "securitySchemes" not in client.http.get(CARD_PATHS[0]).json()
    address = serve_edge(callers=Callers.of(SecretStr("one")))
    card = httpx.get(address + CARD_PATHS[0]).json()
    assert list(card["securitySchemes"]) == ["bearer"]
    assert card["securitySchemes"]["bearer"]["type"] == "http"  # what 0.3 reads
    assert card["securityRequirements"] == [{"schemes": {"bearer": {}}}]
