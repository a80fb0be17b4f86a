"""What is remembered of a file between runs: its state, and the key of its part among a source's checkpoints.

The key is the file's absolute path, readable for a person. It is no identity: a renamed file is recognised by content
and its state moves to the new key. The value is JSON, `[version, checksum, state]`, so that a damaged or newer state is
recognised, named, and costs no more than reading that file again. Sources: B15, B23, B24, B32 of the bug catalogue.
"""

import os
import zlib
from typing import Final
from urllib.parse import quote_from_bytes, unquote_to_bytes

import msgspec
from msgspec import Raw, Struct

from adapters.files.fingerprint import Cursor, Head

STATE_VERSION: Final = 1

SOURCE_PART: Final = "source"
"""The part that says that a source was seen before; no file's key, since those begin with `/` or `bytes:`."""

_BYTES_KEY: Final = "bytes:"


class CheckpointError(ValueError):
    """A stored state that cannot be used; the message says why."""


class Seen(Struct, frozen=True, array_like=True, gc=False):
    """A file's inode, size and times when it was last looked at: equal ones mean that no look is needed.

    The device number is not part of it: it changes with a mount (B27).
    """

    inode: int = 0
    size: int = 0
    mtime_ns: int = 0
    ctime_ns: int = 0

    @classmethod
    def of(cls, status: os.stat_result) -> "Seen":
        """From what stat says."""
        return cls(status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


class FileState(Struct, array_like=True, gc=False):
    """All that is known of a file; `gone_since` is when it was first missed (Unix seconds), 0 while it is there."""

    cursor: Cursor = Cursor()
    head: Head = Head()
    slot: int = 0
    seen: Seen = Seen()
    gone_since: int = 0


class SourceState(Struct, array_like=True, gc=False):
    """What is known of a source as a whole: when it was first seen (Unix seconds)."""

    first_seen: int


class _Envelope(Struct, array_like=True, gc=False):
    version: int
    checksum: int
    state: Raw


_encode = msgspec.json.Encoder().encode
_envelope = msgspec.json.Decoder(_Envelope).decode
_file_state = msgspec.json.Decoder(FileState).decode


def encode_state(state: FileState | SourceState) -> bytes:
    """Encode a state for the checkpoint store."""
    inner = _encode(state)
    return _encode(_Envelope(STATE_VERSION, zlib.crc32(inner), Raw(inner)))


def decode_state(value: bytes) -> FileState:
    """Decode a file's state; raises `CheckpointError` when it is damaged or of another version."""
    try:
        envelope = _envelope(value)
        if envelope.version != STATE_VERSION:
            raise CheckpointError(f"state of version {envelope.version}; this program knows {STATE_VERSION}")
        if zlib.crc32(envelope.state) != envelope.checksum:
            raise CheckpointError("damaged state: its checksum does not fit")
        return _file_state(envelope.state)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise CheckpointError(f"damaged state: {error}") from error


def key_of(path: str) -> str:
    """The part's key of a file; a name that is no UTF-8 is quoted, for a key must be text."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return _BYTES_KEY + quote_from_bytes(os.fsencode(path))
    return path


def path_of(key: str) -> str:
    """The path of a file from its part's key."""
    if key.startswith(_BYTES_KEY):
        return os.fsdecode(unquote_to_bytes(key.removeprefix(_BYTES_KEY)))
    return key
