"""Identity of a growing file by its content: head, marker, checksum of what was consumed.

Device, inode, path and times are only hints (inodes are reused at once, device numbers change with a mount). Trust
comes from three things, each compared with the bytes that are there now:

- the *head*: the first bytes of the file, grown with it up to `HEAD_BYTES`; another head is another file;
- the *marker*: the last bytes before the cursor; another marker is a rewrite in place;
- the *checksum* of every consumed byte: for a change that head and marker cannot show.

Some writers keep a slot at the start of a file that they overwrite in place (a padded title record). A `SlotRule` says
how long it is; its bytes take part in none of the three. Sources: B1, B19, B41 of the tailers' bug catalogue; E10, E11.
"""

import os
import stat
import zlib
from collections.abc import Callable
from enum import StrEnum
from hashlib import blake2b
from typing import Final

from msgspec import Struct

HEAD_BYTES: Final = 1024
"""Enough to tell session files apart (their header holds an id), cheap to compare at each look."""

MARKER_BYTES: Final = 1024
"""Longer than most lines' common endings, so that equal markers mean equal last lines."""

CHECK_CHUNK: Final = 1024 * 1024

_SLOT_BYTES: Final = 256
_SLOT_START: Final = b'{"type":"title"'

SlotRule = Callable[[bytes], int]
"""From the first bytes of a file, how many of them are a slot that is overwritten in place; 0 when there is none."""


def title_slot(start: bytes) -> int:
    """Length of a padded title record: a first line of exactly 256 bytes, newline included, of type `title`.

    Source: Oh My Pi's session files; B10, E11.
    """
    padded = start.startswith(_SLOT_START) and start.find(b"\n", 0, _SLOT_BYTES) == _SLOT_BYTES - 1
    return _SLOT_BYTES if padded else 0


def read_at(descriptor: int, offset: int, size: int) -> bytes:
    """Read `size` bytes at `offset`, fewer only at the end of the file. Raises OSError."""
    data = os.pread(descriptor, size, offset)
    if len(data) == size or not data:
        return data
    parts = [data]
    while data and sum(map(len, parts)) < size:
        done = sum(map(len, parts))
        data = os.pread(descriptor, size - done, offset + done)
        parts.append(data)
    return b"".join(parts)


def open_regular(path: str) -> int:
    """Open a regular file for reading and give its descriptor.

    Never waits for the other end of a FIFO and never becomes a terminal's owner, should the name have changed its
    meaning since it was listed. Raises OSError, and `NotRegularError` for anything but a regular file.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotRegularError(f"{path} is not a regular file")
    return descriptor


class NotRegularError(OSError):
    """A directory, FIFO, socket or device where a file was expected."""


def digest(data: bytes) -> str:
    """A short digest that does not collide by chance."""
    return blake2b(data, digest_size=12).hexdigest()


def checksum(data: bytes, crc: int = 0) -> int:
    """Continue the checksum of consumed bytes.

    CRC-32, because its whole state is its value: it goes on after a restart without reading the file again.
    """
    return zlib.crc32(data, crc)


class Head(Struct, frozen=True, array_like=True, gc=False):
    """The first `length` bytes of a file (after its slot) as a digest."""

    length: int = 0
    digest: str = ""

    @classmethod
    def of(cls, start: bytes) -> "Head":
        """The head of a file that begins with `start`."""
        data = start[:HEAD_BYTES]
        return cls(len(data), digest(data))

    def begins(self, start: bytes) -> bool:
        """Whether a file that begins with `start` still has this head."""
        return len(start) >= self.length and (not self.length or digest(start[: self.length]) == self.digest)


class Cursor(Struct, frozen=True, array_like=True, gc=False):
    """How far a file is consumed: up to `offset`, always the end of a line.

    `marker` is the digest of the `marker_length` bytes before it. `crc` is the checksum of all bytes before it, None
    while they were passed over unread.
    """

    offset: int = 0
    crc: int | None = 0
    marker: str = ""
    marker_length: int = 0

    def advanced(self, lead: bytes, data: bytes, slot: int) -> "Cursor":
        """The cursor after consuming `data`, where `lead` are the marker's bytes before it."""
        offset = self.offset + len(data)
        crc = None if self.crc is None else checksum(data[max(slot - self.offset, 0) :], self.crc)
        return Cursor.at(offset, crc, lead + data[-MARKER_BYTES:], slot)

    @classmethod
    def at(cls, offset: int, crc: int | None, before: bytes, slot: int) -> "Cursor":
        """A cursor at `offset`, where `before` are the bytes that lead up to it."""
        length = max(min(MARKER_BYTES, offset - slot, len(before)), 0)
        return cls(offset, crc, digest(before[len(before) - length :]), length)

    def follows(self, lead: bytes) -> bool:
        """Whether the bytes before the cursor are still those it was made from."""
        return len(lead) == self.marker_length and (not lead or digest(lead) == self.marker)


class Verdict(StrEnum):
    """What a known file turns out to be when it is looked at again."""

    SAME = "the same"
    REPLACED = "replaced by other content"
    TRUNCATED = "cut shorter"
    REWRITTEN = "rewritten in place"


class Start(Struct, frozen=True):
    """The start of a file as it is now."""

    head: Head
    slot: int
    data: bytes

    @classmethod
    def read(cls, descriptor: int, rule: SlotRule) -> "Start":
        """Read it. Raises OSError."""
        data = read_at(descriptor, 0, _SLOT_BYTES + HEAD_BYTES)
        slot = rule(data)
        return cls(Head.of(data[slot:]), slot, data[slot:])


def judge(descriptor: int, size: int, known: tuple[Head, int, Cursor], start: Start) -> Verdict:
    """Compare an open file with what is known of it (head, slot, cursor). Raises OSError.

    Everything but `SAME` means: read again from byte 0; what was given out before stays, and event ids absorb it.
    """
    head, slot, cursor = known
    if cursor.offset == 0:
        return Verdict.SAME
    if size < cursor.offset:
        return Verdict.TRUNCATED
    if slot != start.slot or not head.begins(start.data):
        return Verdict.REPLACED
    lead = read_at(descriptor, cursor.offset - cursor.marker_length, cursor.marker_length)
    return Verdict.SAME if cursor.follows(lead) else Verdict.REWRITTEN


def end_of_lines(descriptor: int, size: int, slot: int) -> Cursor:
    """A cursor behind the last newline of a file whose content is to be passed over unread. Raises OSError."""
    end = size
    while end > 0:
        begin = max(end - CHECK_CHUNK, 0)
        cut = read_at(descriptor, begin, end - begin).rfind(b"\n") + 1
        if cut:
            offset = begin + cut
            lead = min(MARKER_BYTES, offset)
            return Cursor.at(offset, None, read_at(descriptor, offset - lead, lead), slot)
        end = begin
    return Cursor()
