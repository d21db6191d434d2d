"""Downloads: they go on where they broke off, follow few redirects, and never wait for ever."""

import functools
import ssl

import anyio
import pytest

from tau_bridge.data_sets.download import Part, download
from tau_bridge.data_sets.limits import FetchLimits
from tau_bridge.errors import FetchError
from tests.fakes.file_server import ServedFile, serve_file
from tests.fakes.tls import self_signed

pytestmark = pytest.mark.requirement("bench:data")
CONTENT = bytes(range(256)) * 400
HALF = len(CONTENT) // 2
LIMITS = FetchLimits(wait_s=1.0, connect_s=5.0, stalled_s=20.0, attempts=3)


@pytest.fixture
def waits():
    return []


@pytest.fixture
def bring(tmp_path, waits):
    """Downloads into a part of the test, and returns what came."""

    def run(address, limits=LIMITS):
        part = Part.of(tmp_path, address.partition("://")[2].partition("/")[2])

        async def sleep(seconds):
            waits.append(seconds)

        call = functools.partial(
            download, address, part, limits=limits, on_progress=lambda *_: None, sleep=sleep
        )
        anyio.run(call)
        return part.data.read_bytes()

    return run


def ranges(served):
    return [each.get("range") for each in served.asked]


def test_a_part_goes_on_in_the_next_attempt_and_in_the_next_process(bring, waits):
    served = ServedFile(CONTENT, cuts=[1000, 1000, 1000, 1000])
    with serve_file(served) as base:
        with pytest.raises(FetchError, match="broke off"):
            bring(f"{base}/a.tar.gz")
        assert waits == [1.0, 2.0]
        assert bring(f"{base}/a.tar.gz") == CONTENT
    assert ranges(served) == [None, *(f"bytes={n}000-" for n in (1, 2, 3, 4))]
    assert {each["if-range"] for each in served.asked[1:]} == {'"1"'}


def test_a_file_that_changed_meanwhile_begins_again(bring):
    served = ServedFile(b"old" * 30_000, cuts=[1000] * 3)
    with serve_file(served) as base:
        with pytest.raises(FetchError):
            bring(f"{base}/a.zip")
        served.content, served.etag = CONTENT, '"2"'
        assert bring(f"{base}/a.zip") == CONTENT


@pytest.mark.parametrize("changes", [{"ranges": False}, {"etag": None}, {"etag": 'W/"1"'}], ids=str)
def test_a_server_that_cannot_go_on_begins_again(bring, changes):
    served = ServedFile(CONTENT, cuts=[HALF], **changes)
    with serve_file(served) as base:
        assert bring(f"{base}/a.zip") == CONTENT


def test_a_date_names_a_version_as_well(bring):
    date = "Wed, 21 Oct 2026 07:28:00 GMT"
    served = ServedFile(CONTENT, cuts=[HALF], etag=None, headers={"Last-Modified": date})
    with serve_file(served) as base:
        assert bring(f"{base}/a.zip") == CONTENT
    assert served.asked[1]["if-range"] == date


def test_a_range_that_does_not_fit_is_not_pasted(bring, tmp_path):
    served = ServedFile(CONTENT, cuts=[HALF], headers={"Content-Range": "bytes 5-9/10"})
    with serve_file(served) as base:
        assert bring(f"{base}/a.zip") == CONTENT
    assert ranges(served) == [None, f"bytes={HALF}-", None]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_asked_again_after_the_time_that_it_wants(bring, waits, status):
    served = ServedFile(CONTENT, statuses=[status, status], headers={"Retry-After": "7"})
    with serve_file(served) as base:
        assert bring(f"{base}/a.zip") == CONTENT
    assert waits == [7.0, 7.0]


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (401, "wants credentials"),
        (403, "forbidden"),
        (404, "there is nothing at this address"),
        (410, "any more"),
        (418, "this is no archive"),
    ],
)
def test_a_refusal_is_told_at_once(bring, waits, status, why):
    with (
        serve_file(ServedFile(CONTENT, statuses=[status])) as base,
        pytest.raises(FetchError, match=rf"{why}.*{status}"),
    ):
        bring(f"{base}/a.zip")
    assert waits == []


def test_redirects_are_followed_on_this_machine(bring):
    with serve_file(ServedFile(CONTENT, redirect="/file")) as base:
        assert bring(f"{base}/a.zip") == CONTENT


@pytest.mark.parametrize(
    "there",
    [
        "http://example.org/a.zip",
        "https://example.org/a.zip",
        "http://localhost:1/a.zip",
        "file:///etc/passwd",
        "ftp://127.0.0.1/a.zip",
        "//example.org/a.zip",
    ],
)
def test_other_redirects_are_not_followed(bring, there):
    with (
        serve_file(ServedFile(CONTENT, redirect=there)) as base,
        pytest.raises(FetchError, match="not followed: only from https to https"),
    ):
        bring(f"{base}/a.zip")


def test_redirects_in_a_circle_end(bring):
    with (
        serve_file(ServedFile(CONTENT, redirect="/again")) as base,
        pytest.raises(FetchError, match="more than 5 times"),
    ):
        bring(f"{base}/a.zip")


@pytest.mark.parametrize("announced", [-1, 2 << 20], ids=["sent", "announced"])
def test_what_is_larger_than_allowed_is_not_kept(bring, tmp_path, announced):
    served = ServedFile(CONTENT * 11, announced=announced)
    limits = FetchLimits(download_bytes=1 << 20, attempts=1)
    with serve_file(served) as base, pytest.raises(FetchError, match="more than 1 MiB"):
        bring(f"{base}/a.zip", limits)
    assert not list(tmp_path.iterdir())


def test_a_server_that_does_not_answer_is_given_up(bring):
    limits = FetchLimits(connect_s=0.2, stalled_s=0.2, attempts=1)
    with (
        serve_file(ServedFile(CONTENT, silent=True)) as base,
        pytest.raises(FetchError, match=r"0\.2 s"),
    ):
        bring(f"{base}/a.zip", limits)


def test_a_server_that_falls_silent_is_given_up_and_its_part_is_kept(bring):
    served = ServedFile(CONTENT, stalls=True)
    limits = FetchLimits(stalled_s=0.2, attempts=1)
    with serve_file(served) as base, pytest.raises(FetchError, match=r"0\.2 s.*are kept"):
        bring(f"{base}/a.zip", limits)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    return self_signed(tmp_path_factory.mktemp("tls") / "server.pem", "127.0.0.1")


@pytest.fixture
def tls(certificate):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def test_a_server_whose_certificate_nobody_trusts_is_told(bring, waits, tls):
    with (
        serve_file(ServedFile(CONTENT), tls) as base,
        pytest.raises(FetchError, match="certificate is not trusted"),
    ):
        bring(f"{base}/a.zip")
    assert waits == []


def test_redirects_lead_from_https_to_https_and_never_out_of_it(
    bring, tls, certificate, monkeypatch
):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    served = ServedFile(CONTENT, redirect="/file")
    with serve_file(served, tls) as base, serve_file(ServedFile(CONTENT)) as plain:
        assert bring(f"{base}/a.zip") == CONTENT
        served.redirect = f"{plain}/file"
        with pytest.raises(FetchError, match="not followed"):
            bring(f"{base}/b.zip")


def test_where_nothing_listens_there_are_two_attempts(bring, waits):
    with serve_file(ServedFile(b"")) as base:
        pass
    with pytest.raises(FetchError, match="no connection"):
        bring(f"{base}/a.zip")
    assert waits == [1.0]


def test_a_proxy_of_an_unknown_kind_is_told(bring, monkeypatch):
    monkeypatch.setenv("ALL_PROXY", "gopher://127.0.0.1:1")
    with pytest.raises(FetchError, match="proxy of the environment cannot be used"):
        bring("http://127.0.0.1:1/a.zip")
