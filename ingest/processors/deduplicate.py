"""First sight wins: each `event.id` passes once, whatever comes again; a replay may mend what passed.

One small entry an event: key = the 16 bytes of the id, value = 8 bytes of the time at which the captured record that
held it first was appended (Unix, ms, big-endian) and 8 bytes that stand for its content. Before the value of an event
that a replay let through stand 8 bytes more: when that replay was appended, for retention. Source: E45 of the session
formats.

A replayed event passes again, under its id and with `MENDED_LABEL`, where normalising makes something else of it than
the entry remembers; whoever keeps events takes the last of an id. Of several captured versions of an event the first
counts, as before: one whose original is younger than the entry is no mending but the same old repetition.
"""

import hashlib
import zlib
from collections.abc import Sequence
from enum import Enum, auto
from functools import lru_cache
from typing import Final, Protocol

import msgspec

from ingest.processors.contract import State
from schemas.captured import Replay
from schemas.event import CanonicalEvent, EventType, Role

MENDED_LABEL: Final = "mended"
"""Of an event that takes the place of the earlier one with its id; only the normaliser gives it."""

_UUID_CHARS: Final = 36
_UUID_BYTES: Final = 16
_DASHES: Final = (8, 13, 18, 23)
"""Where a UUID has its hyphens."""
_TIME_BYTES: Final = 8
_DIGEST_BYTES: Final = 8
_CRC_BYTES: Final = 4
_DIGESTED_CHARS: Final = 65_536
"""Enough of a text to tell two apart; an event that was cut to the size limit equals the whole one."""

_encode: Final = msgspec.json.Encoder().encode


class Sight(Enum):
    """What an event is to those before it."""

    FIRST = auto()
    AGAIN = auto()
    CONFLICTING = auto()
    """The id of an earlier event with other words: the earlier one stays."""
    MENDED = auto()
    """The same captured event as before, of which normalising now makes something else."""


class Memory(Protocol):
    """Who knows which events passed before."""

    def see(self, event: CanonicalEvent) -> Sight:
        """Say what an event is, and remember it."""
        ...

    def forget(self, event: CanonicalEvent) -> None:
        """Take back the last sight, which was of this event."""
        ...


class Known:
    """The events of one batch that passed before, as a processor's state remembers them."""

    def __init__(self, state: State, ids: Sequence[str]) -> None:
        """Look up the ids of a whole batch at once."""
        self._state = state
        self.keys = dict(zip(ids, id_keys(ids), strict=True))
        self._values = dict(state.get_many(self.keys.values()))

    def get(self, key: bytes) -> bytes | None:
        """What is remembered under a key."""
        return self._values.get(key)

    def put(self, key: bytes, value: bytes | None) -> None:
        """Remember a value; None forgets."""
        if value is None:
            self._values.pop(key, None)
            self._state.delete(key)
        else:
            self._values[key] = value
            self._state.put(key, value)


class FirstSight:
    """The memory of a batch, for the events of one captured record of it."""

    def __init__(self, known: Known, time_ms: int, replay: Replay | None = None) -> None:
        """`time_ms` is when the record was appended, `replay` its own mark."""
        self._known = known
        self._time = _time(time_ms)
        self._replay = replay
        self._before: bytes | None = None

    def see(self, event: CanonicalEvent) -> Sight:
        """Say what an event is, and remember it; its id must be one of the batch."""
        known = self._known
        key = known.keys[event.event.id]
        digest = content_key(event)
        before = self._before = known.get(key)
        if before is None:
            known.put(key, self._time + (_time(self._replay.time_ms) if self._replay else b"") + digest)
            return Sight.FIRST
        if self._replay is not None and self._mends(self._replay, before, digest):
            known.put(key, self._time + _first_time(before) + digest)
            return Sight.MENDED
        same_words = before[-_DIGEST_BYTES:-_CRC_BYTES] == digest[:_CRC_BYTES]
        return Sight.AGAIN if same_words else Sight.CONFLICTING

    @staticmethod
    def _mends(replay: Replay, before: bytes, digest: bytes) -> bool:
        if replay.time_ms > int.from_bytes(_first_time(before), "big"):
            return False
        return replay.force or not before.endswith(digest)

    def forget(self, event: CanonicalEvent) -> None:
        """Take back the last sight: the event turned out to be none, and a better one may come under its id."""
        self._known.put(self._known.keys[event.event.id], self._before)


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


def id_keys(event_ids: Sequence[str]) -> list[bytes]:
    """Give the `id_key` of each of several ids; a fifth of its cost where all are UUIDs, as ours are."""
    joined, count = "".join(event_ids), len(event_ids)
    if (
        set(map(len, event_ids)) == {_UUID_CHARS}
        and all(joined[place::_UUID_CHARS] == "-" * count for place in _DASHES)
        and joined == joined.lower()
    ):
        try:
            packed = bytes.fromhex(joined.replace("-", ""))
        except ValueError:
            packed = b""
        if len(packed) == _UUID_BYTES * count:
            return [packed[place : place + _UUID_BYTES] for place in range(0, len(packed), _UUID_BYTES)]
    return [id_key(event_id) for event_id in event_ids]


def content_key(event: CanonicalEvent) -> bytes:
    """Give 8 bytes that differ where the event does: a CRC of type, role and words, and one of all the rest.

    The first counts conflicts, in which a time or a title that another export words differently is none; both together
    show a replay what to mend. A chance of one in four thousand million to miss one is fine, at a third of the cost of
    a cryptographic digest.
    """
    body = event.event
    words = body.text[:_DIGESTED_CHARS].encode("utf-8", "surrogatepass")
    said = zlib.crc32(words, _crc_of_speaker(body.type, body.role))
    rest = _encode((body.timestamp_iso, body.labels, body.refs, event.source, event.meta))
    return (said << 32 | zlib.crc32(rest)).to_bytes(_DIGEST_BYTES, "big")


@lru_cache(maxsize=64)
def _crc_of_speaker(event_type: EventType, role: Role) -> int:
    return zlib.crc32(f"{event_type} {role} ".encode())


def _time(time_ms: int) -> bytes:
    return max(time_ms, 0).to_bytes(_TIME_BYTES, "big")


def _first_time(value: bytes) -> bytes:
    return value[-_DIGEST_BYTES - _TIME_BYTES : -_DIGEST_BYTES]
