"""Fetched data: whole, checked, and the default from then on; or nothing was changed."""

import fcntl
import os
import resource
import signal
import threading
import warnings

import pytest

from tau_bridge.data_sets.store import DataStore
from tau_bridge.errors import DataError, FetchedDataError, FetchError
from tests.fakes.file_server import ServedFile, serve_file
from tests.tau_bridge.data_sets.shop import (
    BESIDE,
    COMMIT,
    DATA_SET,
    FILES,
    OTHER_COMMIT,
    in_repository,
    tar_of,
    zip_of,
)

pytestmark = pytest.mark.requirement("bench:data")
OTHER_FILES = {**FILES, "shop/tasks.json": b'["sell"]'}


@pytest.mark.parametrize("make", [tar_of, zip_of])
@pytest.mark.parametrize("top", ["shop-1234567/", ""])
def test_of_an_archive_the_files_that_are_used_are_kept_and_no_others(fetching, archive, make, top):
    fetched = fetching(archive(make(in_repository(), top=top)))
    assert fetching.files() == FILES
    assert fetched.data.origin.assurance == "digest"
    assert fetched.data.origin.digest == DATA_SET.digest
    assert fetching.left() == {COMMIT, "default"}


def test_a_folder_may_be_a_checkout_or_the_data_alone(fetching, tmp_path):
    for name, files in {"checkout": in_repository(), "data": FILES}.items():
        for path, content in files.items():
            (tmp_path / name / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name / path).write_bytes(content)
        fetching(tmp_path / name)
        assert fetching.files() == FILES
        fetching.store.remove_all()


def test_a_folder_of_other_things_is_refused(fetching, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(FetchError, match="empty: it holds none of the files of the shop"):
        fetching(tmp_path / "empty")
    assert fetching.left() == set()


def test_a_folder_with_too_many_files_is_given_up(fetching, tmp_path):
    for number in range(12):
        (tmp_path / "all" / str(number)).mkdir(parents=True)
    with pytest.raises(FetchError, match="more than 10 files in it: name the checkout"):
        fetching.limited(members=10)(tmp_path / "all")


def test_what_is_no_place_is_a_wrong_use(fetching):
    for place in ("gone.tar.gz", "ftp://example.org/a.zip", "ext::sh -c true", "-oProxy=x", ""):
        with pytest.raises(DataError):
            fetching(place)
    with pytest.raises(DataError, match="not encrypted"):
        fetching("http://example.org/shop.tar.gz")


def test_data_that_are_there_and_whole_are_not_fetched_again(fetching, archive):
    path = archive(tar_of(in_repository()))
    assert not fetching(path).was_there
    path.write_bytes(b"broken since")
    assert fetching(path).was_there


def test_data_that_were_damaged_are_fetched_again(fetching, archive):
    path = archive(tar_of(in_repository()))
    damaged = fetching(path).data.folder / "shop" / "tasks.json"
    damaged.chmod(0o644)
    damaged.write_bytes(b"[]")
    assert not fetching(path).was_there
    assert fetching.files() == FILES
    (fetching.store.default().folder / "origin.json").unlink()
    with pytest.raises(FetchedDataError, match=f"greenroom data fetch shop --commit {COMMIT}"):
        fetching.store.default()
    assert not fetching(path).was_there


def test_other_files_than_those_of_the_commit_are_refused_and_named(fetching, archive):
    path = archive(tar_of(in_repository(OTHER_FILES)))
    with pytest.raises(FetchError, match=rf"should be {DATA_SET.digest}.*--commit"):
        fetching(path)
    assert fetching.left() == set()


def test_files_of_another_commit_are_kept_beside_with_their_digest(fetching, archive):
    fetching(archive(tar_of(in_repository())))
    other = fetching(archive(zip_of(in_repository(OTHER_FILES))), commit=OTHER_COMMIT).data
    assert other.origin.assurance == "claimed"
    assert other.origin.digest != DATA_SET.digest
    assert other.label("shop") == "said to be shop fffffff"
    assert fetching.files() == OTHER_FILES
    fetching.store.use(fetching.store.find(COMMIT[:7]))
    assert fetching.files() == FILES
    assert fetching.store.default().label("shop") == "shop 1234567"


@pytest.mark.parametrize(
    "make",
    [
        lambda files, commit: tar_of(files, comment=commit),
        lambda files, commit: zip_of(files, comment=commit.encode()),
    ],
    ids=["tar", "zip"],
)
def test_an_archive_that_names_its_commit_must_name_the_right_one(fetching, archive, make):
    path = archive(make(in_repository(OTHER_FILES), OTHER_COMMIT))
    with pytest.raises(FetchError, match=rf"is of commit {OTHER_COMMIT}.*--commit {OTHER_COMMIT}"):
        fetching(path)
    assert fetching(path, commit=OTHER_COMMIT).data.origin.assurance == "archive"


def test_data_that_cannot_be_played_are_not_kept(fetching, archive):
    fetching(archive(tar_of(in_repository())))
    fetching.unplayable = DataError("there is no tea")
    with pytest.raises(FetchError, match="cannot be played: there is no tea"):
        fetching(archive(tar_of(in_repository(OTHER_FILES))), commit=OTHER_COMMIT)
    assert fetching.files() == FILES
    assert fetching.left() == {COMMIT, "default"}


def test_an_archive_is_fetched_from_an_address(fetching):
    served = ServedFile(tar_of(in_repository()))
    with serve_file(served) as base:
        origin = fetching(f"{base}/shop.tar.gz").data.origin
    assert fetching.files() == FILES
    assert origin.source == f"{base}/shop.tar.gz"
    assert fetching.progress[-1] == (len(served.content), len(served.content))
    assert fetching.left() == {COMMIT, "default"}


def test_a_token_in_an_address_is_sent_and_never_shown(fetching):
    with serve_file(ServedFile(tar_of(in_repository()))) as base:
        address = base.replace("//", "//me:s3cr3t-token@")
        fetched = fetching(f"{address}/shop.tar.gz?key=another-s3cr3t")
    assert fetched.data.origin.source == f"{base}/shop.tar.gz"
    assert "s3cr3t" not in "".join(fetching.said)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"<!DOCTYPE html><p>Sign in", "it is a web page"),
        (b"", "it is empty"),
        (b"BZh91AY&SY", "it begins with b'BZh91AY"),
        (tar_of(in_repository())[:200], "is cut off"),
    ],
)
def test_an_address_that_gives_something_else_is_told_and_nothing_is_left(fetching, content, why):
    with serve_file(ServedFile(content)) as base, pytest.raises(FetchError, match=why):
        fetching(f"{base}/shop.tar.gz")
    assert fetching.left() == set()


def test_a_download_that_breaks_off_is_kept_and_goes_on(fetching):
    content = tar_of({**in_repository(), "noise": os.urandom(50_000)})
    served = ServedFile(content, cuts=[20_000] * 2)
    with serve_file(served) as base:
        address = f"{base}/shop.tar.gz"
        with pytest.raises(FetchError, match=r"broke off.*MiB of it are kept") as failed:
            fetching.limited(attempts=1)(address)
        assert "greenroom data fetch shop --from ARCHIVE" in str(failed.value)
        assert fetching.store.default() is None
        fetching.limited(attempts=3)(address)
    assert [each.get("range") for each in served.asked] == [
        None,
        "bytes=20000-",
        "bytes=40000-",
    ]
    assert fetching.files() == FILES


def test_where_nothing_listens_the_message_says_what_to_do_without_a_network(fetching):
    with serve_file(ServedFile(b"")) as base:
        pass
    with pytest.raises(FetchError, match=r"no connection .*--from ARCHIVE.*set SHOP_DATA"):
        fetching(f"{base}/shop.tar.gz")


def test_a_second_fetch_waits_for_the_first_and_finds_its_data(fetching, archive, tmp_path):
    path = archive(tar_of(in_repository()))
    waits = threading.Event()
    results = []
    with fetching.store.locked(lambda: None):
        fetching.said = _Noticed(waits)
        second = threading.Thread(target=lambda: results.append(fetching(path)))
        second.start()
        assert waits.wait(20)
        assert results == []
    second.join(20)
    assert "waiting for it" in fetching.said[0]
    assert fetching.files() == FILES


class _Noticed(list):
    def __init__(self, event):
        super().__init__()
        self._event = event

    def append(self, said):
        super().append(said)
        self._event.set()


def test_many_fetches_at_once_end_with_one_whole_set(fetching, archive):
    path = archive(tar_of(in_repository()))
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(fetching(path).was_there)) for _ in range(6)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join(30)
    assert sorted(results) == [False, True, True, True, True, True]
    assert fetching.files() == FILES


def test_what_a_killed_fetch_left_is_swept_away(fetching, archive):
    fetching(archive(tar_of(in_repository())))
    left = fetching.store.folder / ".work" / "draft-of-one-that-was-killed"
    (left / "shop").mkdir(parents=True)
    (left / "shop" / "tasks.json").write_text("[")
    fetching(archive(tar_of(in_repository())))
    assert fetching.left() == {COMMIT, "default"}


def test_a_fetch_that_is_killed_at_any_step_leaves_the_default_as_it_was(
    fetching, archive, monkeypatch
):
    """Every call that changes the disk is, in turn, the last one."""
    fetching(archive(tar_of(in_repository())))
    other = archive(tar_of(in_repository(OTHER_FILES)))
    changing = ("mkdir", "rename", "replace", "unlink", "rmdir", "open", "fsync", "chmod")
    for last in range(400):
        before = fetching.store.default().origin
        child = _forked()
        if child == 0:
            code = 1
            try:
                _die_after(last, changing)
                fetching(other, commit=OTHER_COMMIT)
                code = 0
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        now = DataStore(fetching.store.folder.parent, "shop").default()
        assert now.origin.commit in (COMMIT, OTHER_COMMIT)
        files = FILES if now.origin.commit == COMMIT else OTHER_FILES
        assert fetching.files() == files
        if os.WIFEXITED(status):
            break
        assert before.commit in fetching.store.commits()
    assert os.waitstatus_to_exitcode(status) == 0
    assert last > 20
    assert fetching.files() == OTHER_FILES


def _forked():
    with warnings.catch_warnings():  # of threads, of which the child needs none
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _die_after(calls, names):
    """Kill this process at one of its next calls of these functions of `os`."""
    left = [calls]

    def counting(function):
        def call(*arguments, **options):
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1
            return function(*arguments, **options)

        return call

    for name in names:
        setattr(os, name, counting(getattr(os, name)))


def test_a_full_disk_is_told_and_nothing_is_left(fetching, archive):
    path = archive(tar_of({**in_repository({**FILES, "shop/db/large.json": bytes(1 << 20)})}))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, before[1]))
    try:
        with pytest.raises(FetchError, match=r"the disk is full .*GREENROOM_DATA_DIR"):
            fetching(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert fetching.left() == set()


def test_a_folder_that_cannot_be_made_is_told(fetching, archive, tmp_path):
    (tmp_path / "file").write_text("in the way")
    fetching.store = DataStore(tmp_path / "file", "shop")
    with pytest.raises(FetchError, match="cannot be used: Not a directory"):
        fetching(archive(tar_of(in_repository())))


def test_removed_data_are_gone_and_no_default_is_left(fetching, archive):
    fetching(archive(tar_of(in_repository())))
    fetching(archive(tar_of(in_repository(OTHER_FILES))), commit=OTHER_COMMIT)
    store = fetching.store
    with store.locked(lambda: None):
        store.remove(OTHER_COMMIT)
        assert store.default() is None
        assert store.commits() == [COMMIT]
        store.use(COMMIT)
        store.remove_all()
    assert store.default() is None
    assert fetching.left() == set()


def test_digits_that_name_no_commit_or_several_are_a_wrong_use(fetching, archive):
    fetching(archive(tar_of(in_repository())))
    for digits in ("abcdef0", COMMIT[:6], ""):
        with pytest.raises(DataError, match=f"there is {COMMIT[:12]}"):
            fetching.store.find(digits)


def test_a_default_that_is_no_commit_is_told(fetching, archive):
    fetching(archive(tar_of(in_repository())))
    (fetching.store.folder / "default").write_text("../../etc")
    with pytest.raises(FetchedDataError, match="names no commit"):
        fetching.store.default()


def test_the_lock_is_let_go_of_whatever_happens(fetching, archive):
    with pytest.raises(FetchError):
        fetching(archive(b"no archive"))
    with (fetching.store.folder / ".lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_what_is_beside_the_files_is_really_in_the_archives():
    assert len(in_repository()) == len(FILES) + len(BESIDE)
