"""A ZIP archive and its members.

Only members that are wanted are opened, each through a temporary file that has no name, one at a time. No name from an
archive is ever used to write, and what an archive may cost is bounded beforehand.
"""

import re
import shutil
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, Final

from adapters.contract import HEAD_BYTES, FileHead, PermanentSourceError, TransientSourceError
from adapters.files.archive import OnBytes
from adapters.files.archive_directory import NoArchiveError, count_entries, find_directory
from adapters.files.archive_head import PEEK_BYTES, TELLING, nature

MAX_MEMBERS: Final = 100_000
"""Members of an archive and of those inside it: several times the largest known export, and 50 MB for `zipfile`."""

MAX_MEMBER_BYTES: Final = 16 * 1024**3
MAX_TOTAL_BYTES: Final = 64 * 1024**3
"""Unpacked bytes of one member, and of all that are read of one archive."""

MAX_RATIO: Final = 250
FREE_RATIO_BYTES: Final = 64 * 1024**2
"""Unpacked bytes for a packed one beyond the first 64 MB: JSON with much white space comes to 100, a bomb to 1,000."""

SPARE_BYTES: Final = 256 * 1024**2
"""Left free on the disk that temporary files are on."""

_CHUNK_BYTES: Final = 1024 * 1024
_LOCAL_HEADER_BYTES: Final = 30
_ENCRYPTED: Final = 0x41
_METHODS: Final = {9: "Deflate64", 12: "bzip2", 14: "LZMA", 93: "Zstandard", 95: "XZ", 98: "PPMd", 99: "AES"}
_READABLE: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_UNPRINTABLE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_MAX_NAME_CHARS: Final = 255
_MAX_NAME_PARTS: Final = 32

# What `zipfile` and zlib raise for bytes that are no archive; OSError is left to the callers of a file.
_DAMAGE: Final = (
    zipfile.BadZipFile, zlib.error, EOFError, ValueError, OverflowError, NotImplementedError, RuntimeError, LookupError,
)  # fmt: skip


@dataclass(slots=True)
class Budget:
    """What is left of the bounds for one archive and all that is inside it."""

    members: int = MAX_MEMBERS
    unpacked: int = MAX_TOTAL_BYTES


class ZipArchive:
    """A ZIP archive that was found to be within bounds; `stream` stays the caller's.

    Raises `PermanentSourceError` with a sentence that says what is wrong with the archive and what to do.
    """

    def __init__(self, stream: BinaryIO, path: Path, budget: Budget) -> None:
        self._stream = _Counted(stream)
        self._budget = budget
        self.path = path
        self._check(stream)
        try:
            self._zip = zipfile.ZipFile(self._stream)
        except _DAMAGE as error:
            message = f"its list of members is damaged ({error}); download it again, or unpack it and import the folder"
            raise PermanentSourceError(message) from error
        self._refuse_overlaps()

    def members(self) -> Iterator["ZipMember"]:
        """Give every member but folders, in the archive's order."""
        for info in self._zip.infolist():
            if not info.is_dir():
                yield ZipMember(self, info)

    def _check(self, stream: BinaryIO) -> None:
        try:
            directory = find_directory(stream)
        except NoArchiveError:
            raise PermanentSourceError(
                "it begins like a ZIP archive but its end is missing: the download broke off; download it again"
            ) from None
        if directory.disks:
            raise PermanentSourceError("it is one part of an archive in several parts; join and unpack them first")
        count = count_entries(stream, directory, self._budget.members)
        if count > self._budget.members:
            raise PermanentSourceError(
                f"it holds more than {MAX_MEMBERS:,} members; unpack it and import the folder that holds the chats"
            )
        self._budget.members -= count

    def _refuse_overlaps(self) -> None:
        places = sorted(
            (info.header_offset, info.header_offset + _LOCAL_HEADER_BYTES + info.compress_size)
            for info in self._zip.infolist()
        )
        if any(end > start for (_, end), (start, _) in pairwise(places)):
            raise PermanentSourceError("its members overlap each other, as in a ZIP bomb; nothing of it was read")

    def peek(self, info: zipfile.ZipInfo) -> bytes:
        """Read a member's first bytes: few, unless they are text; raises `PermanentSourceError`."""
        with self._reading(info) as source:
            start: bytes = source.read(PEEK_BYTES)
            if nature(start) in TELLING:
                start += source.read(HEAD_BYTES - len(start))
            return start

    def unpack(self, info: zipfile.ZipInfo, target: BinaryIO, on_bytes: OnBytes | None) -> None:
        """Write a member's content, within bounds; raises `SourceError`."""
        self._make_room(info)
        before, done = self._stream.consumed, 0
        with self._reading(info) as source:
            while chunk := source.read(_CHUNK_BYTES):
                done += len(chunk)
                if done > max(FREE_RATIO_BYTES, MAX_RATIO * (self._stream.consumed - before)):
                    raise PermanentSourceError(f"it unpacks to more than {MAX_RATIO} times its size, as in a ZIP bomb")
                target.write(chunk)
                if on_bytes:
                    on_bytes(done)
        if done != info.file_size:
            raise PermanentSourceError("it is damaged inside the archive (another size than the list of members says)")
        target.flush()

    def _make_room(self, info: zipfile.ZipInfo) -> None:
        if info.file_size > min(MAX_MEMBER_BYTES, self._budget.unpacked):
            raise PermanentSourceError(f"it unpacks to {info.file_size:,} bytes, which is more than is read")
        self._budget.unpacked -= info.file_size
        folder = tempfile.gettempdir()
        if shutil.disk_usage(folder).free < info.file_size + SPARE_BYTES:
            raise TransientSourceError(
                f"{info.file_size:,} bytes are needed for it in {folder}; make room, or set TMPDIR to a larger disk"
            )

    @contextmanager
    def _reading(self, info: zipfile.ZipInfo) -> Iterator[Any]:
        try:
            with self._zip.open(info) as source:
                yield source
        except _DAMAGE as error:
            raise PermanentSourceError(f"it is damaged inside the archive ({str(error) or 'cut off'})") from error


class ZipMember:
    """A file inside an archive."""

    def __init__(self, archive: ZipArchive, info: zipfile.ZipInfo) -> None:
        self._archive = archive
        self._info = info
        self.path = archive.path / clean_name(info.filename)
        self.size = info.file_size
        self.packed_size = info.compress_size

    @property
    def is_link(self) -> bool:
        """Whether it is a symbolic link, or a device, as Unix archives may hold."""
        mode = self._info.external_attr >> 16
        return bool(stat.S_IFMT(mode)) and not stat.S_ISREG(mode)

    @property
    def obstacle(self) -> str | None:
        """Why it cannot be unpacked at all."""
        if self._info.flag_bits & _ENCRYPTED:
            return "encrypted; unpack the archive with its password and import the folder"
        if self._info.compress_type not in _READABLE:
            method = _METHODS.get(self._info.compress_type, f"method {self._info.compress_type}")
            return f"compressed by {method}, which is not read; unpack the archive and import the folder"
        return None

    def head(self) -> FileHead:
        """Read as much of the beginning as tells what it is; raises `PermanentSourceError`."""
        return FileHead(self.path, self._archive.peek(self._info), self.size)

    @contextmanager
    def open(self, on_bytes: OnBytes | None = None) -> Iterator[BinaryIO]:
        """Unpack into a temporary file without a name and open that; raises `SourceError`."""
        with tempfile.TemporaryFile() as spool:
            self._archive.unpack(self._info, spool, on_bytes)
            spool.seek(0)
            yield spool


class _Counted:
    """A stream that counts what is read of it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.consumed = 0
        self.seek, self.tell = stream.seek, stream.tell

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self.consumed += len(data)
        return data

    def seekable(self) -> bool:
        return True


def clean_name(name: str) -> Path:
    """Make a member's name fit to be shown, and harmless as a path: relative, going down only, without controls."""
    parts = [part for part in _UNPRINTABLE.sub("\ufffd", name).replace("\\", "/").split("/") if part.strip(". ")]
    return Path(*(part[:_MAX_NAME_CHARS] for part in parts[-_MAX_NAME_PARTS:] or ["(no name)"]))
