"""Data from git repositories: only objects are read, and nothing of the repository is run."""

import contextlib
import os
from pathlib import Path

import pytest

from tau_bridge.clock import SystemClock
from tau_bridge.errors import DataError, FetchError
from tests.fakes.file_server import ServedFile, serve_file
from tests.tau_bridge.data_sets.shop import COMMIT, DATA_SET, FILES, in_repository

pytestmark = pytest.mark.requirement("bench:data")
LATER = {"data/shop/tasks.json": b'["later"]'}


@pytest.fixture
def commit(repository):
    """A commit with the files, which is not the last one."""
    found = repository.commit(in_repository())
    repository.commit(LATER)
    return found


@pytest.mark.parametrize("partly", [False, True], ids=["all is sent", "contents are left out"])
def test_one_commit_is_fetched_from_an_address(fetching, repository, commit, partly):
    repository("config", "uploadpack.allowFilter", str(partly).lower())
    data = fetching(repository.folder.as_uri(), commit=commit).data
    assert fetching.files() == FILES
    assert (data.origin.assurance, data.origin.commit) == ("git", commit)
    assert data.origin.digest == DATA_SET.digest
    assert fetching.left() == {commit, "default"}


@pytest.mark.parametrize("place", ["checkout", "bare", "work tree"])
def test_a_folder_that_is_a_repository_gives_the_commit_and_not_its_files(
    fetching, repository, commit, tmp_path, place
):
    folder = repository.folder
    (folder / "data" / "shop" / "tasks.json").write_text("edited since")
    if place == "bare":
        folder = tmp_path / "bare"
        repository("clone", "--quiet", "--bare", ".", str(folder))
    elif place == "work tree":
        folder = tmp_path / "tree"
        repository("worktree", "add", "--quiet", str(folder), "HEAD")
    fetching(folder, commit=commit)
    assert fetching.files() == FILES


@pytest.mark.parametrize("make", [lambda folder: folder.as_uri(), str], ids=["address", "folder"])
def test_a_commit_that_is_not_there_is_told(fetching, repository, commit, make):
    with pytest.raises(FetchError, match=r"no such commit|has no commit"):
        fetching(make(repository.folder), commit=COMMIT)
    assert fetching.left() == set()


def test_an_address_without_a_repository_is_told_in_the_words_of_git(fetching, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(FetchError, match=r"by git: .*does not appear to be a git repository"):
        fetching((tmp_path / "empty").as_uri())


def test_a_token_in_an_address_is_not_shown(fetching):
    with serve_file(ServedFile(b"", statuses=[404] * 9)) as base:
        address = base.replace("//", "//me:s3cr3t-token@")
        with pytest.raises(FetchError, match="cannot be fetched by git") as failed:
            fetching(f"{address}/shop.git")
    assert base in str(failed.value)
    assert "s3cr3t" not in f"{failed.value}{fetching.said}"


def test_without_git_the_message_says_what_to_do(fetching, repository, commit, tmp_path):
    fetching.environment = {"PATH": str(tmp_path)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(tmp_path))  # in which the program is looked for
        with pytest.raises(FetchError, match=r"cannot be started .*install it, or name an archive"):
            fetching(repository.folder, commit=commit)


def test_links_in_a_repository_are_refused(fetching, repository):
    folder = repository.folder / "data" / "shop"
    folder.mkdir(parents=True)
    (folder / "tasks.json").symlink_to("/etc/passwd")
    commit = repository.commit({"README.md": b"x"})
    with pytest.raises(FetchError, match=r"tasks.json' in it is a link"):
        fetching(repository.folder, commit=commit)


def test_nothing_of_a_repository_is_run(fetching, repository, tmp_path):
    ran = tmp_path / "ran"
    script = repository.folder / "run.sh"
    script.write_text(f"#!/bin/sh\ntouch {ran}\ncat\n")
    script.chmod(0o755)
    commit = repository.commit({**in_repository(), ".gitattributes": b"*.json filter=run diff=run"})
    hooks = repository.folder / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-checkout", "reference-transaction", "pre-auto-gc", "post-merge"):
        (hooks / name).write_text(script.read_text())
        (hooks / name).chmod(0o755)
    for key in ("filter.run.smudge", "diff.run.textconv", "core.fsmonitor", "core.pager"):
        repository("config", key, str(script))
    # Of git's own settings, as a user may have them for work trees of their own.
    settings = tmp_path / "gitconfig"
    settings.write_text(f'[filter "run"]\n\tsmudge = {script}\n\trequired = true\n')
    for place in (repository.folder, repository.folder.as_uri()):
        fetching.environment = {**os.environ, "HOME": str(tmp_path)}
        ran.unlink(missing_ok=True)
        fetching(place, commit=commit)
        assert fetching.files() == FILES
        fetching.store.remove_all()
        assert not ran.exists()


def test_the_repository_that_a_command_is_run_in_is_left_alone(fetching, repository, commit):
    fetching.environment = {**os.environ, "GIT_DIR": "/nowhere", "GIT_WORK_TREE": "/nowhere"}
    fetching(repository.folder.as_uri(), commit=commit)
    assert fetching.files() == FILES


def test_a_repository_that_would_fetch_for_itself_is_not_whole(fetching, repository, tmp_path):
    repository("config", "uploadpack.allowFilter", "true")
    commit = repository.commit(in_repository())
    partial = tmp_path / "partial"
    address = repository.folder.as_uri()
    repository("clone", "--quiet", "--filter=blob:none", "--no-checkout", address, str(partial))
    with pytest.raises(FetchError, match=r"does not have the content of 'data/shop/.*not whole"):
        fetching(partial, commit=commit)


@pytest.mark.parametrize(
    "address",
    [
        "ext::sh -c 'touch ran'",
        "ext://x",
        "ssh://-oProxyCommand=touch/x",
        "fd::17",
        "--upload-pack=x",
    ],
)
def test_an_address_that_would_run_a_program_is_a_wrong_use(fetching, address):
    with pytest.raises(DataError):
        fetching(address)


def test_a_large_repository_is_given_up(fetching, repository):
    commit = repository.commit({"large": os.urandom(3 << 20), **in_repository()})
    with pytest.raises(FetchError, match="more than 1 MiB"):
        fetching.limited(download_bytes=1 << 20)(repository.folder.as_uri(), commit=commit)
    assert fetching.left() == set()


def test_a_server_that_says_nothing_is_given_up_with_all_that_git_began(fetching):
    fetching.clock = SystemClock()
    with serve_file(ServedFile(b"", silent=True)) as base:
        with pytest.raises(FetchError, match=r"git made no progress for 0\.3 s"):
            fetching.limited(stalled_s=0.3)(f"{base}/shop.git")
        assert not [each for each in command_lines() if base in each]
    assert fetching.left() == set()


def command_lines():
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            yield path.read_bytes().decode(errors="replace")
