"""Archives that are hostile or broken: each is told, and nothing of it is left behind."""

import gzip
import io
import tarfile
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_bridge.data_sets.archives import members_of_archive
from tau_bridge.data_sets.limits import FetchLimits
from tau_bridge.data_sets.members import receive
from tau_bridge.errors import FetchError
from tests.tau_bridge.data_sets.shop import (
    DATA_SET,
    FILES,
    file_member,
    in_repository,
    tar_of,
    zip_of,
)

pytestmark = pytest.mark.requirement("bench:data")
TASKS = "shop-1234567/data/shop/tasks.json"


def whole(*more):
    """The members of a good archive, and some more."""
    good = [(file_member(f"shop-1234567/data/{name}", text), text) for name, text in FILES.items()]
    return [*good, *more]


def odd(kind, name=TASKS, target="/etc/passwd"):
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member, b""


def zip_entry(name, *, mode=0, flags=0, kind=zipfile.ZIP_STORED):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        entry = zipfile.ZipInfo(name)
        entry.external_attr = mode << 16
        entry.compress_type = kind
        archive.writestr(entry, b"[]")
    content = bytearray(packed.getvalue())
    if flags:
        content[6] |= flags
        content[content.rfind(b"PK\x01\x02") + 8] |= flags
    return bytes(content)


def raw_tar(*blocks):
    return gzip.compress(b"".join(blocks) + bytes(2 * tarfile.BLOCKSIZE))


def header(kind, size, name="x"):
    member = tarfile.TarInfo(name)
    member.type, member.size = kind, size
    return member.tobuf(tarfile.GNU_FORMAT)


def sparse():
    member = file_member(TASKS, bytes(512))
    member.type = tarfile.GNUTYPE_SPARSE
    return member, bytes(512)


def damaged(content, at):
    return content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :]


GOOD_TAR, GOOD_ZIP = tar_of(in_repository()), zip_of(in_repository())
LARGE = bytes(3_000_000)
HOSTILE = {
    "symbolic link": (tar_of([odd(tarfile.SYMTYPE)]), "is a link"),
    "hard link": (tar_of([odd(tarfile.LNKTYPE)]), "is a link"),
    "character device": (tar_of([odd(tarfile.CHRTYPE)]), "is a device"),
    "block device": (tar_of([odd(tarfile.BLKTYPE)]), "is a device"),
    "pipe": (tar_of([odd(tarfile.FIFOTYPE)]), "is a device"),
    "sparse file": (tar_of([sparse()]), r"is a device|cannot be read|broken"),
    "parent": (tar_of(whole((file_member("shop/../../x"), b""))), "leads out"),
    "parent below": (tar_of(whole((file_member(f"{TASKS}/../../x"), b""))), "leads out"),
    "absolute": (tar_of(whole((file_member("/etc/cron.d/x"), b""))), "leads out"),
    "link that leads out": (tar_of(whole(odd(tarfile.SYMTYPE, "../x"))), "leads out"),
    "twice": (tar_of(whole((file_member(TASKS, b"[]"), b"[]"))), "is in it twice"),
    "twice by case": (
        tar_of(whole((file_member("data/shop/db/GOODS.json", b"[]"), b"[]"))),
        "is in it twice",
    ),
    "twice by place": (
        tar_of(whole((file_member("shop/tasks.json", b"[]"), b"[]"))),
        "is in it twice",
    ),
    "control characters": (tar_of(whole((file_member("a\x1b[2Jb"), b""))), "control characters"),
    "line end": (tar_of(whole((file_member("a\nb"), b""))), "control characters"),
    "no utf-8": (tar_of(whole((file_member("a\udcffb"), b""))), "control characters, or no UTF-8"),
    "none of the files": (tar_of({"README.md": b"x"}), "none of the files"),
    "empty tar": (tar_of({}), "none of the files"),
    "bomb in a file": (tar_of({"data/shop/tasks.json": LARGE}), "too large together"),
    "bomb beside": (tar_of({"other": bytes(40_000_000)}), "unpacks to more than 20 MiB"),
    "many members": (tar_of({f"{n}": b"" for n in range(501)}), "more than 500 files"),
    "long header": (
        raw_tar(header(tarfile.XHDTYPE, 1 << 30), bytes(512)),
        "a header in the archive has 1073741824 bytes",
    ),
    "long name": (raw_tar(header(tarfile.GNUTYPE_LONGNAME, 1 << 33)), "a header in the archive"),
    "headers of headers": (
        raw_tar(*[header(tarfile.GNUTYPE_LONGNAME, 512) + b"a" * 512] * 3000),
        "cannot be read|broken",
    ),
    "cut off tar": (GOOD_TAR[:-30], "cut off"),
    "cut off in a file": (
        gzip.compress(gzip.decompress(tar_of(whole()))[:700]),
        "broken|cut off",
    ),
    "wrong checksum": (damaged(GOOD_TAR, len(GOOD_TAR) - 6), "broken"),
    "tar of nonsense": (gzip.compress(b"nonsense" * 200), "broken"),
    "gzip of nothing": (gzip.compress(b""), "broken|none of the files"),
    "nothing": (b"", "it is empty"),
    "text": (b"hello", "no .tar.gz and no .zip: it begins with b'hello'"),
    "page": (b"\n<!DOCTYPE html>\n<title>404</title>", "it is a web page"),
    "link in a zip": (zip_entry(TASKS, mode=0o120777), "is a link"),
    "device in a zip": (zip_entry(TASKS, mode=0o020666), "is a device"),
    "parent in a zip": (zip_entry("a/../../b"), "leads out"),
    "absolute in a zip": (zip_entry("/etc/x"), "leads out"),
    "null in a zip": (zip_entry("good.json#.exe").replace(b"#", b"\0"), "control characters"),
    "encrypted": (zip_entry(TASKS, flags=1), "is encrypted"),
    "rare packing": (zip_entry(TASKS, kind=zipfile.ZIP_LZMA), "packed in a rare way"),
    "bomb in a zip": (zip_of({"data/shop/tasks.json": LARGE}), "too large together"),
    "bomb beside in a zip": (zip_of({"other": bytes(40_000_000)}), "unpacks to more than 20 MiB"),
    "long list in a zip": (zip_of({"n" * 50_000: b""} | in_repository()), "list of the archive"),
    "cut off zip": (GOOD_ZIP[:-40], "cut off|broken"),
    "damaged zip": (damaged(GOOD_ZIP, 60), "broken|none of the files"),
}
LIMITS = FetchLimits(
    members=500, kept_bytes=1_000_000, unpacked_bytes=20 << 20, header_bytes=40_000
)


def take(path, folder):
    folder.mkdir()
    return receive(members_of_archive(path, LIMITS), DATA_SET.in_archive, folder, LIMITS)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_archive_is_told_and_writes_nothing_but_files_below_its_folder(tmp_path, name):
    content, why = HOSTILE[name]
    path = tmp_path / "archive"
    path.write_bytes(content)
    with pytest.raises(FetchError, match=why):
        take(path, tmp_path / "new")
    assert {each.name for each in tmp_path.iterdir()} == {"archive", "new"}
    found = {each for each in (tmp_path / "new").rglob("*") if not each.is_dir()}
    assert all(each.is_file() and not each.is_symlink() for each in found)
    written = {each.relative_to(tmp_path / "new").as_posix() for each in found}
    assert written <= {*FILES, "shop/db/GOODS.json"}


def test_links_and_devices_beside_the_files_are_left_out(tmp_path):
    path = tmp_path / "archive"
    path.write_bytes(
        tar_of(
            whole(odd(tarfile.SYMTYPE, "shop-1234567/CLAUDE.md"), odd(tarfile.FIFOTYPE, "queue"))
        )
    )
    receipt = take(path, tmp_path / "new")
    assert (receipt.files, receipt.digest) == (2, DATA_SET.digest)


def test_kept_files_cannot_be_changed_by_mistake(tmp_path):
    path = tmp_path / "archive"
    path.write_bytes(GOOD_ZIP)
    take(path, tmp_path / "new")
    assert {each.stat().st_mode & 0o777 for each in (tmp_path / "new").rglob("*.json")} == {0o444}


@given(data=st.data())
def test_a_damaged_archive_is_told_or_gives_what_it_holds(tmp_path_factory, data):
    content = bytearray(data.draw(st.sampled_from([GOOD_TAR, GOOD_ZIP])))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    folder = tmp_path_factory.mktemp("damaged")
    (folder / "archive").write_bytes(content[: data.draw(st.integers(0, len(content)))])
    try:
        receipt = take(folder / "archive", folder / "new")
    except FetchError:
        return
    assert receipt.files <= len(FILES)


@given(name=st.text(min_size=1, max_size=30).filter(lambda name: "\0" not in name))
def test_whatever_a_member_is_called_nothing_leaves_the_folder(tmp_path_factory, name):
    folder = tmp_path_factory.mktemp("named")
    try:
        content = tar_of([(file_member(name, b"x"), b"x"), *whole()])
    except UnicodeError:
        return
    (folder / "archive").write_bytes(content)
    try:
        take(folder / "archive", folder / "new")
    except FetchError:
        return
    found = {each.relative_to(folder / "new").as_posix() for each in folder.rglob("*.*")}
    assert {each.name for each in folder.iterdir()} == {"archive", "new"}, found
