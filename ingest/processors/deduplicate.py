"""First sight wins: each `event.id` passes once, whatever comes again.

One small entry an event: key = the 16 bytes of the id, value = 8 bytes of the time it was first processed (Unix, ms,
big-endian) and 8 bytes that stand for its content. Source: E45 of the session formats.
"""

import hashlib
import zlib
from collections.abc import Iterable
from enum import Enum, auto
from typing import Final, Protocol

from ingest.processors.contract import State
from schemas.event import CanonicalEvent

_UUID_CHARS: Final = 36
_UUID_BYTES: Final = 16
_DIGEST_BYTES: Final = 8
_DIGESTED_CHARS: Final = 65_536
"""Enough of a text to tell two apart; an event that was cut to the size limit equals the whole one."""


class Sight(Enum):
    """What an event is to those before it."""

    FIRST = auto()
    AGAIN = auto()
    CONFLICTING = auto()
    """The id of an earlier event with another content: the earlier one stays."""


class Memory(Protocol):
    """Who knows which events passed before."""

    def see(self, event: CanonicalEvent) -> Sight:
        """Say what an event is, and remember it."""
        ...

    def forget(self, event: CanonicalEvent) -> None:
        """Take back a first sight."""
        ...


class FirstSight:
    """The events that passed before, as a processor's state remembers them."""

    def __init__(self, state: State, ids: Iterable[str], time_ms: int) -> None:
        """Look up the ids of a whole batch at once; `time_ms` is when the batch is processed."""
        self._state = state
        self._time = max(time_ms, 0).to_bytes(8, "big")
        self._keys = {event_id: id_key(event_id) for event_id in ids}
        self._known = dict(state.get_many(self._keys.values()))

    def see(self, event: CanonicalEvent) -> Sight:
        """Say what an event is, and remember it; its id must be one of the batch."""
        key = self._keys[event.event.id]
        digest = content_key(event)
        known = self._known.get(key)
        if known is None:
            value = self._time + digest
            self._known[key] = value
            self._state.put(key, value)
            return Sight.FIRST
        return Sight.AGAIN if known.endswith(digest) else Sight.CONFLICTING

    def forget(self, event: CanonicalEvent) -> None:
        """Take back a first sight: the event turned out to be none, and a mended one may come under its id."""
        key = self._keys[event.event.id]
        self._known.pop(key, None)
        self._state.delete(key)


def id_key(event_id: str) -> bytes:
    """Give the 16 bytes of a UUID in its usual form, or a digest of any other id."""
    if len(event_id) == _UUID_CHARS and event_id[8:24:5] == "----" and event_id == event_id.lower():
        try:
            key = bytes.fromhex(event_id.replace("-", ""))
        except ValueError:
            key = b""
        if len(key) == _UUID_BYTES:
            return key
    return hashlib.blake2b(event_id.encode("utf-8", "surrogatepass"), digest_size=_UUID_BYTES).digest()


def content_key(event: CanonicalEvent) -> bytes:
    """Give 8 bytes that differ where type, role or words do: a CRC and the length of the first of them.

    It only counts conflicts, so a chance of one in four thousand million to miss one is fine, at a third of the cost
    of a cryptographic digest.
    """
    body = event.event
    content = f"{body.type} {body.role} {body.text[:_DIGESTED_CHARS]}".encode("utf-8", "surrogatepass")
    return (zlib.crc32(content) << 32 | len(content)).to_bytes(_DIGEST_BYTES, "big")
