"""Archives that mean harm cost a clear sentence: bounded memory, nothing written outside, no link followed."""

import io
import json
import subprocess
import sys
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.contract import Heard, ReadOptions, Rejected, SourceError
from adapters.files import zip_archive
from adapters.files.archive import is_archive
from adapters.files.archive_reader import ArchiveReader
from adapters.files.archive_walk import Found, walk_archive
from adapters.files.zip_archive import clean_name
from tests.support import archives
from tests.support.archives import CHATS, ask, packed
from tests.support.commands import INGEST, environment

# Runs a walk with 200 MB of address space above what Python has taken, and tells the peak of its resident memory.
LIMITED = """
import io, json, resource, sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from tests.support.archives import ask
from adapters.files.archive_reader import ArchiveReader
from adapters.files.archive_walk import Found, reason, walk_archive
from adapters.contract import SourceError
taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + 200_000_000,) * 2)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
said = []
with open(sys.argv[1], "rb") as stream:
    for item in walk_archive(stream, Path("x.zip"), ask):
        if isinstance(item, Found):
            try:
                with item.member.open() as member:
                    while member.read(1 << 20): pass
            except SourceError as error:
                said.append(str(error))
        else:
            said += [item.error or "", *item.warnings]
print(json.dumps({"said": said, "grown": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before}))
"""

KINDS = {
    "a million members": (lambda: archives.many_members(1_000_000), "more than 100,000 members"),
    "one member that unpacks to 256 MB": (lambda: archives.bomb(1 << 28), "as in a ZIP bomb"),
    "overlapping members": (lambda: archives.overlapping(50), "overlap each other"),
    "archives nested without end": (lambda: archives.nested(6, b"0" * 5000, width=2), "archives inside"),
    "many wide archives inside": (lambda: archives.nested(3, packed({"a": b"0" * 10**6}), width=6), "archives inside"),
    "encrypted members": (lambda: archives.with_flag(packed({"chats.json": CHATS}), flag=1), "encrypted"),
    "an unknown method": (lambda: archives.with_flag(packed({"chats.json": CHATS}), method=9), "Deflate64"),
    "bzip2, of which a block may be anything": (
        lambda: packed({"chats.json": b'{"chats"' + bytes(10**8)}, zipfile.ZIP_BZIP2),
        "bzip2",
    ),
    "a size that is a lie": (
        lambda: packed({"chats.json": CHATS}).replace(len(CHATS).to_bytes(4, "little"), b"\xff\xff\xff\x7f"),
        "another size",
    ),
    "a part of several": (
        lambda: packed({"c": CHATS})[:-22] + b"PK\x05\x06\x03\x00\x03\x00" + packed({"c": CHATS})[-14:],
        "one part of an archive",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_memory_stays_bounded_and_the_report_is_clear(kind: str, tmp_path: Path) -> None:
    make, words = KINDS[kind]
    (tmp_path / "x.zip").write_bytes(make())
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, tmp_path / "x.zip", root], capture_output=True, text=True, check=False, cwd=root
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert words in " ".join(told["said"])
    assert told["grown"] < 120_000, "kilobytes"


@pytest.mark.parametrize(
    "name",
    ["../../evil.json", "/etc/evil.json", "..\\..\\evil.json", "C:\\evil.json", "a/../../../evil.json",
     "x" * 5000 + ".json", "a\x00b.json", "\x1b[31mred.json", "con\u202egnp.json", ""],
)  # fmt: skip
def test_no_name_is_used_to_write_and_shown_names_are_harmless(name: str, tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    members = {"chats.json": json.dumps([{"schemaVersion": "1.0"}]).encode(), name or "/": b"[]"}
    (work / "x.zip").write_bytes(packed(members))
    before = sorted(tmp_path.rglob("*"))
    subprocess.run(
        [INGEST, "import", "--output", work / "out.jsonl", work / "x.zip"],
        env=environment(home), cwd=work, capture_output=True, check=False,
    )  # fmt: skip
    assert sorted(set(tmp_path.rglob("*")) - set(before)) == [work / "out.jsonl"]
    shown = str(clean_name(name))
    assert shown.isprintable()
    assert not shown.startswith("/")
    assert ".." not in Path(shown).parts


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_bytes(CHATS)
    raw = archives.with_link("z.json", str(secret))
    *found, contents = walk_archive(io.BytesIO(raw), Path("x.zip"), ask)
    assert [item.member.path.name for item in found] == ["chats.json"]
    assert contents.passed_over == {"links": 1}


def test_a_damaged_member_costs_itself() -> None:
    raw = bytearray(packed({"1.json": CHATS, "2.json": b'{"chats": ["c"]}'}, zipfile.ZIP_STORED))
    place = raw.find(b'"b"')
    raw[place + 1] ^= 1
    elements = list(ArchiveReader(ask).read(io.BytesIO(bytes(raw)), Path("x.zip"), ReadOptions()))
    assert [e.event.id for e in elements if isinstance(e, Heard)] == ["c"]
    assert ["Bad CRC-32" in e.detail for e in elements if isinstance(e, Rejected)] == [True]


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_any_damage_ends_in_elements_or_a_sentence(data) -> None:
    """Cut anywhere, or a few bytes changed: never another exception."""
    raw = bytearray(packed({"1.json": CHATS, "a/2.json": CHATS, "3.zip": packed({"4.json": CHATS})}))
    for _ in range(data.draw(st.integers(0, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(raw[: data.draw(st.integers(0, len(raw)) | st.just(len(raw)))])
    assert is_archive(io.BytesIO(cut)) in (True, False)
    *_, contents = walk_archive(io.BytesIO(cut), Path("x.zip"), ask)
    with suppress(SourceError):
        assert list(ArchiveReader(ask).read(io.BytesIO(cut), Path("x.zip"), ReadOptions()))
    assert contents.recognised or contents.error


def test_a_download_that_broke_off_says_so() -> None:
    raw = packed({"1.json": CHATS})[:-30]
    (contents,) = walk_archive(io.BytesIO(raw), Path("x.zip"), ask)
    assert "download broke off" in contents.error


def test_what_stands_before_an_archive_does_not_hide_it() -> None:
    """Self-unpacking archives, and comments behind."""
    raw = b"#!/bin/sh\nexit\n" + packed({"1.json": CHATS})
    assert is_archive(io.BytesIO(raw))
    found, contents = walk_archive(io.BytesIO(raw), Path("x"), ask)
    assert isinstance(found, Found)
    assert contents.error is None


def test_too_little_room_on_disk_is_said_before_it_is_used(monkeypatch) -> None:
    monkeypatch.setattr(zip_archive, "SPARE_BYTES", 1 << 60)
    (found, _) = walk_archive(io.BytesIO(packed({"1.json": CHATS})), Path("x.zip"), ask)
    with pytest.raises(SourceError, match="set TMPDIR"), found.member.open():
        pass


def test_six_gigabytes_of_attachments_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "big.zip"
    archives.sparse(path, 6 * 1024**3, CHATS)
    if path.stat().st_blocks * 512 > 100_000_000:
        path.unlink()
        pytest.skip("this file system has no sparse files")
    with path.open("rb") as stream:
        counted = Counting(stream)
        items = list(walk_archive(counted, path, ask))
        found, contents = items
        with found.member.open() as member:
            assert member.read() == CHATS
        assert contents.passed_over == {"media and other binary files": 2}
        assert counted.bytes < 500_000


class Counting:
    """A stream that counts the bytes it gives."""

    def __init__(self, stream) -> None:
        self._stream = stream
        self.bytes = 0
        self.seek, self.tell = stream.seek, stream.tell

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self.bytes += len(data)
        return data
