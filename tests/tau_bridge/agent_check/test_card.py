"""The lint of cards."""

import pytest

from tests.fakes.shop import shop_agent, with_card


def dropping(name):
    return lambda card: card.pop(name) and None


def setting(**fields):
    return lambda card: card.update(fields)


def in_skill(**fields):
    return lambda card: card["skills"][0].update(fields)


def in_capabilities(**fields):
    return lambda card: card["capabilities"].update(fields)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (dropping("description"), "'description' is missing"),
        (dropping("version"), "'version' is missing"),
        (setting(description=""), "'description' is missing or empty"),
        (dropping("defaultInputModes"), "'defaultInputModes' is missing"),
        (dropping("skills"), "'skills' is missing"),
        (in_skill(tags=[]), "'skills[0].tags' is missing"),
        (in_skill(id=""), "'skills[0].id' is missing"),
        (setting(descripton="x"), "did you mean 'description'"),
        (in_skill(tag="x"), "no field 'skills[0].tag'"),
        (in_capabilities(stream=True), "no field 'capabilities.stream'"),
        (lambda card: card["skills"].append(card["skills"][0]), "two skills have the id 'talk'"),
        (in_capabilities(extendedAgentCard=True), "no way to authenticate"),
        (setting(defaultInputModes=["image/png"]), "takes no text, only 'image/png'"),
        (setting(description="red \x1b[31m"), "'description' holds control characters"),
        (
            lambda card: card["supportedInterfaces"].append(card["supportedInterfaces"][0]),
            "is named twice",
        ),
    ],
)
async def test_a_flaw_in_a_card_is_a_warning_with_its_place(check, statuses, of, change, words):
    result = await check(with_card(shop_agent(), change))
    assert statuses(result) == {"card": "warning"}
    assert words in of(result, "card")


async def test_a_requirement_without_its_scheme_is_a_warning(check, of):
    result = await check(
        with_card(shop_agent(), setting(securityRequirements=[{"schemes": {"x": {}}}]))
    )
    assert "'x' is not among the securitySchemes" in of(result, "card")


async def test_a_card_without_a_name_fails(check, statuses):
    result = await check(with_card(shop_agent(), dropping("name")))
    assert statuses(result)["card"] == "fails"
    assert result.messages_sent == 0


async def test_a_card_of_protocol_0_3_alone_is_no_flaw(check, statuses):
    def legacy(card):
        for name in ("supportedInterfaces", "securityRequirements"):
            card.pop(name, None)
        card["capabilities"]["stateTransitionHistory"] = False

    result = await check(with_card(shop_agent(), legacy, protocols=("0.3",)))
    assert statuses(result) == {}


async def test_a_card_with_many_flaws_is_cut(check):
    many = {f"field{index}": index for index in range(1000)}
    result = await check(with_card(shop_agent(), setting(**many)))
    card = next(each for each in result.checks if each.name == "card")
    assert len(card.findings) == 21
    assert card.findings[-1].found == "and 980 more"


async def test_a_card_that_is_nested_deeply_is_no_crash(check, statuses):
    deep = "leaf"
    for _ in range(900):
        deep = {"a": deep}
    assert statuses(await check(with_card(shop_agent(), setting(own=deep)))) == {"card": "warning"}


def at(url):
    return lambda card: [each.update(url=url) for each in card["supportedInterfaces"]] and None


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://0.0.0.0:9010/", "an address to listen on"),
        ("/", "no whole address"),
        ("http://localhost:1/", "another port"),
    ],
)
async def test_an_address_that_only_works_here_is_a_warning(check, statuses, of, url, words):
    result = await check(with_card(shop_agent(), at(url)))
    assert statuses(result) == {"addresses": "warning"}
    assert words in of(result, "addresses")


async def test_an_address_on_another_host_fails_and_is_not_called(check, statuses, of):
    result = await check(with_card(shop_agent(), at("http://shop.test/")))
    assert statuses(result) == {"interfaces": "fails"}
    assert "another host, 'http://shop.test'" in of(result, "interfaces")
    assert "')" not in of(result, "interfaces")
    assert result.messages_sent == 0


async def test_a_required_extension_that_is_not_known_is_a_warning(check, statuses):
    extension = {"uri": "https://shop.test/pay", "required": True}
    result = await check(with_card(shop_agent(), in_capabilities(extensions=[extension])))
    assert statuses(result) == {"extensions": "warning"}
