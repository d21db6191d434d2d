"""Who may look at the site of all runs."""

import httpx
import pytest

from adk_agent.site.access import Visitors
from adk_agent.site.app import build_site
from tests.adk_agent.present.page.kept_run import INSTALLED, RUN, keep_run, record, row

TOKEN = "a-token-of-some-length"
NAVIGATES = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}


@pytest.fixture
def folder(tmp_path):
    return keep_run(tmp_path, [record(row("http://x.test", "a"))])


def client(folder, *, host="127.0.0.1", token=None, base="http://127.0.0.1:4000"):
    site = build_site(
        folder, Visitors(host=host, port=4000, token=token, session="s"), benchmarks=INSTALLED
    )
    return httpx.AsyncClient(transport=httpx.ASGITransport(site), base_url=base)


@pytest.mark.parametrize("name", ["127.0.0.1:4000", "localhost", "[::1]:4000", "127.0.0.9:80"])
async def test_this_machine_is_answered_by_each_of_its_own_names(folder, name):
    async with client(folder) as site:
        assert (await site.get("/", headers={"host": name})).status_code == 200


@pytest.mark.parametrize("path", ["/", f"/runs/{RUN}", f"/runs/{RUN}/events"])
@pytest.mark.parametrize("name", ["evil.test", "localhost.evil.test:4000", "127.0.0.1.evil.test"])
async def test_a_foreign_name_that_leads_here_is_refused(folder, path, name):
    async with client(folder) as site:
        answer = await site.get(path, headers={"host": name})
    assert answer.status_code == 421
    assert RUN not in answer.text


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.test"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:5000"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "script"},
        {"sec-fetch-site": "same-site", "sec-fetch-mode": "cors", "sec-fetch-dest": "empty"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"},
    ],
)
async def test_a_page_of_another_origin_reads_nothing(folder, headers):
    async with client(folder) as site:
        answer = await site.get("/", headers=headers)
    assert answer.status_code == 403
    assert RUN not in answer.text


async def test_a_link_on_a_foreign_page_may_be_followed_and_answers_may_not_be_framed(folder):
    async with client(folder) as site:
        answers = [
            await site.get(path, headers={"sec-fetch-site": "cross-site", **NAVIGATES})
            for path in ("/", f"/runs/{RUN}")
        ]
    for answer in answers:
        assert answer.status_code == 200
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert not [name for name in answer.headers if name.startswith("access-control")]


async def test_the_site_is_only_read(folder):
    async with client(folder) as site:
        assert (await site.post("/")).status_code == 405
        assert (await site.options("/")).status_code == 405


async def test_with_a_token_only_its_holder_may_look(folder):
    base = "http://greenroom.test:4000"
    async with client(folder, host="192.0.2.1", token=TOKEN, base=base) as site:
        assert (await site.get("/")).status_code == 401
        assert (await site.get("/", params={"token": "another"})).status_code == 401
        assert (await site.get("/", headers={"cookie": "greenroom_view_4000=x"})).status_code == 401
        bearer = {"authorization": f"Bearer {TOKEN}"}
        assert (await site.get("/", headers=bearer)).status_code == 200


async def test_the_printed_link_becomes_a_cookie_and_leaves_the_address_bar(folder):
    base = "http://greenroom.test:4000"
    async with client(folder, host="192.0.2.1", token=TOKEN, base=base) as site:
        first = await site.get("/history", params={"q": "a b", "token": TOKEN})
        assert (first.status_code, first.headers["location"]) == (303, "/history?q=a+b")
        cookie = first.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "samesite=strict" in cookie.lower()
        assert TOKEN not in cookie
        assert (await site.get(first.headers["location"])).status_code == 200


async def test_a_link_with_the_token_leads_to_no_other_host(folder):
    async with client(folder, host="192.0.2.1", token=TOKEN) as site:
        answer = await site.get(f"http://127.0.0.1:4000//evil.test/?token={TOKEN}")
    assert answer.headers["location"].startswith("/evil.test")
