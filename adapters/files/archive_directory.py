"""What a ZIP file says it holds, looked at before anything is loaded: its directory's place and true number of entries.

Source: PKWARE APPNOTE 6.3.10, sections 4.3.6 to 4.3.16. `zipfile` reads the whole directory into memory, 500 bytes an
entry, whatever the file's end says about their number.
"""

import struct
from dataclasses import dataclass
from typing import BinaryIO, Final

MAX_TAIL_BYTES: Final = 22 + 65_535
"""The end record, and the longest comment behind it."""

_CHUNK_BYTES: Final = 256 * 1024
_END: Final = struct.Struct("<4s4H2LH")
_END64: Final = struct.Struct("<4sQ2H2L4Q")
_LOCATOR: Final = struct.Struct("<4sLQL")
_ENTRY_BYTES: Final = 46
_LENGTHS: Final = struct.Struct("<3H")
_LENGTHS_AT: Final = 28


class NoArchiveError(Exception):
    """The file has no end record: it is no ZIP archive, or its end is missing."""


@dataclass(frozen=True, slots=True)
class Directory:
    """Where the list of members lies; `start` counts from the file's beginning whatever stands before the archive."""

    start: int
    size: int
    disks: int


def find_directory(stream: BinaryIO) -> Directory:
    """Find the directory by the end record; raises `NoArchiveError`."""
    stream.seek(0, 2)
    size = stream.tell()
    stream.seek(max(0, size - MAX_TAIL_BYTES))
    tail = stream.read(MAX_TAIL_BYTES)
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < _END.size:
        raise NoArchiveError
    end = size - len(tail) + at
    _, disk, _, _, _, length, _, _ = _END.unpack_from(tail, at)
    wide = _wide_end(stream, end)
    if wide:
        end, disk, length = wide
    return Directory(end - length, length, disk)


def _wide_end(stream: BinaryIO, end: int) -> tuple[int, int, int] | None:
    """Give place, disk and directory size by the record of ZIP64 that stands before the end record, if one does."""
    place = end - _LOCATOR.size - _END64.size
    if place < 0:
        return None
    stream.seek(place)
    record = stream.read(_END64.size + _LOCATOR.size)
    if not record.startswith(b"PK\x06\x06") or record[_END64.size :][:4] != b"PK\x06\x07":
        return None
    fields = _END64.unpack_from(record)
    return place, fields[4], fields[8]


def count_entries(stream: BinaryIO, directory: Directory, most: int) -> int:
    """Count the entries that are really there, up to one more than `most`."""
    stream.seek(max(0, directory.start))
    data, at, count, left = b"", 0, 0, directory.size
    while count <= most:
        if len(data) - at < _ENTRY_BYTES + 3 * 65_535 and left > 0:
            more = stream.read(min(_CHUNK_BYTES, left))
            data, at, left = data[at:] + more, 0, left - len(more) if more else 0
        if data[at : at + 4] != b"PK\x01\x02" or len(data) - at < _ENTRY_BYTES:
            break
        at += _ENTRY_BYTES + sum(_LENGTHS.unpack_from(data, at + _LENGTHS_AT))
        count += 1
    return count
