"""Zstandard files (RFC 8878): what was compressed is read on as a stream, in bounded memory.

The codec is in the standard library from Python 3.14 on; before that, `backports.zstd` (the extra `zstd`) is the same
module. It is imported only where a compressed file is read.
"""

import io
import sys
from types import ModuleType
from typing import Any, BinaryIO, Final, Literal

from adapters.contract import PermanentSourceError

MAGIC: Final = b"\x28\xb5\x2f\xfd"
SUFFIX: Final = ".zst"

Problem = Literal["", "file-cut", "damaged"]

_CHUNK_BYTES: Final = 256 * 1024
EXTRA: Final = "reading .zst files needs the extra zstd: pip install 'session-triage[zstd]'"


def _codec() -> ModuleType:
    """Import the codec; raises `PermanentSourceError` that says what to install."""
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd  # noqa: PLC0415 - an optional extra
        else:
            from backports import zstd  # noqa: PLC0415 - an optional extra
    except ImportError:
        raise PermanentSourceError(EXTRA) from None
    return zstd


def available() -> bool:
    """Whether compressed files can be read here."""
    try:
        _codec()
    except PermanentSourceError:
        return False
    return True


def expanded_head(start: bytes, limit: int) -> bytes:
    """Give the first bytes, at most `limit`, of what `start` is the compressed beginning of; empty when it is none.

    Raises `PermanentSourceError` without the codec.
    """
    return io.BufferedReader(ZstStream(io.BytesIO(start))).read(limit)


class ZstStream(io.RawIOBase):
    """Reads on in what a stream of one or more frames holds; raises `PermanentSourceError` without the codec.

    A file that is cut off or damaged ends there: `problem` says so, what came before is given.
    """

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__()
        self._stream = stream
        self._codec: Any = _codec()
        self._frame: Any = self._codec.ZstdDecompressor()
        self._unused = b""
        self._begun = False
        self.problem: Problem = ""

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer in part at least, with nothing at the end only."""
        while len(buffer) and not self.problem:
            data = b""
            if self._frame.eof or self._frame.needs_input:
                data, self._unused = self._unused, b""
                data = data or self._stream.read(_CHUNK_BYTES)
                if not data:
                    self.problem = "file-cut" if self._begun else ""
                    return 0
            if self._frame.eof:
                self._frame = self._codec.ZstdDecompressor()
            given = self._expand(data, len(buffer))
            buffer[: len(given)] = given
            if given:
                return len(given)
        return 0

    def _expand(self, data: bytes, wanted: int) -> bytes:
        try:
            given: bytes = self._frame.decompress(data, wanted)
        except self._codec.ZstdError:
            self.problem = "damaged"
            return b""
        self._begun = not self._frame.eof
        if self._frame.eof:
            self._unused = self._frame.unused_data
        return given
