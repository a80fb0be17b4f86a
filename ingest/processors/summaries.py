"""Summaries: those of the source pass on; a thread that went idle is summarised once for each last event.

A thread is idle when `idle_after` has passed since its latest event and `settle_after` since its last record came into
the log (a clock ahead of the log's counts as the log's). Both follow from the log alone. A summary that is due before
the thread's next record was appended is given when that record comes, unless `tick` gave it already; so the set of
summaries does not depend on when ticks happen, and a replay gives the same ones under the same ids. A mended event of a
known thread changes none of that: the thread has heard it before, at its place among the others.

State: `t/` + digest of the thread's key holds its `ThreadState`; `due/` + time (8 bytes, big-endian) + digest is the
index by which `tick` finds what is due, longest idle first.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Final

from msgspec import msgpack

from ingest.log.contract import NewRecord, Record, Topic
from ingest.processors.contract import State
from ingest.processors.deduplicate import MENDED_LABEL
from ingest.processors.records import event_of, rejected, rejection
from ingest.processors.summary_text import summary_text
from ingest.processors.threads import STATE_VERSION, ThreadState, apply, begin, something_said
from schemas.event import CanonicalEvent, Event, EventMeta, Source, encode
from schemas.ids import derived_id
from schemas.keys import thread_key

IDLE_LABEL: Final = "idle-summary"

IDLE_AFTER: Final = timedelta(hours=6)
"""Six hours: longer than a meal or a meeting, shorter than a night."""

SETTLE_AFTER: Final = timedelta(minutes=1)
"""Old conversations are idle from the start; a minute without more of one says that its import is through with it."""

MAX_PER_TICK: Final = 500
"""An import of ten thousand old conversations must not hold up the live ones for the length of a commit."""

MAX_IDENTITY_CHARS: Final = 4_096
"""A thread whose ids and paths are longer is not summarised: its state would have no bound."""

THREAD_PREFIX: Final = b"t/"
_DUE: Final = b"due/"
_DIGEST_BYTES: Final = 16
_MILLISECOND: Final = timedelta(milliseconds=1)

_encoder: Final = msgpack.Encoder()
_decoder: Final = msgpack.Decoder(ThreadState)


class SummariesProcessor:
    """`conversations.events` to `conversations.summaries`.

    Counts: `seen` events, `emitted` summaries, of these `idle`; `rejected` records.
    """

    name: str = "summaries"
    input: Topic = Topic.EVENTS

    def __init__(
        self,
        *,
        idle_after: timedelta = IDLE_AFTER,
        settle_after: timedelta = SETTLE_AFTER,
        max_per_tick: int = MAX_PER_TICK,
    ) -> None:
        self._idle_after = idle_after // _MILLISECOND
        self._settle_after = settle_after // _MILLISECOND
        self._max_per_tick = max_per_tick
        self._counts: Counter[str] = Counter()

    def process(self, records: Sequence[Record], state: State) -> list[NewRecord]:
        """Apply a batch of events to the states of their threads."""
        keys = {key: _digest(key) for key in {record.key: None for record in records}}
        stored = state.get_many([THREAD_PREFIX + digest for digest in keys.values()])
        before = {key: _read(stored.get(THREAD_PREFIX + digest)) for key, digest in keys.items()}
        due = {key: thread.due_ms if thread else 0 for key, thread in before.items()}
        threads = before
        self._counts["seen"] += len(records)
        outputs = [output for record in records for output in self._take(record, threads)]
        for key, digest in keys.items():
            thread = threads[key]
            if thread:
                state.put(THREAD_PREFIX + digest, _encoder.encode(thread))
                _move(state, digest, due[key], thread.due_ms)
        return outputs

    def _take(self, record: Record, threads: dict[str, ThreadState | None]) -> Iterator[NewRecord]:
        try:
            event = event_of(record)
        except (ValueError, RecursionError) as error:
            self._counts["rejected"] += 1
            bad = rejection(record.topic, f"offset {record.offset}", "invalid-event", error, record.value)
            yield rejected(record, bad)
            return
        thread = threads[record.key]
        if thread and record.offset > thread.applied and 0 < thread.due_ms < record.time_ms:
            yield self._idle(thread)
        mended = thread is not None and MENDED_LABEL in event.event.labels
        if not mended and _identity_chars(event.source) <= MAX_IDENTITY_CHARS:
            threads[record.key] = self._applied(thread or begin(event), event, record)
        if event.event.type == "summary":
            self._counts["emitted"] += 1
            yield NewRecord(Topic.SUMMARIES, record.key, record.value)

    def _applied(self, thread: ThreadState, event: CanonicalEvent, record: Record) -> ThreadState:
        if apply(thread, event, record.offset) and something_said(thread):
            heard = min(thread.latest_ms, record.time_ms)
            thread.due_ms = max(heard + self._idle_after, record.time_ms + self._settle_after)
        return thread

    def _idle(self, thread: ThreadState) -> NewRecord:
        """Give a thread's summary, and note that it was given."""
        thread.due_ms = 0
        self._counts["emitted"] += 1
        self._counts["idle"] += 1
        key = thread_key(thread.source.provider_account_key, thread.source.thread_id)
        return NewRecord(Topic.SUMMARIES, key, encode(_summary(key, thread)))

    def tick(self, now_ms: int, state: State) -> list[NewRecord]:
        """Summarise threads that are idle by now, longest idle first, at most `max_per_tick` of them."""
        entries = state.scan(_DUE, self._max_per_tick)
        due = [(key, key[-_DIGEST_BYTES:]) for key, _ in entries if _due_ms(key) < now_ms]
        stored = state.get_many([THREAD_PREFIX + digest for _, digest in due])
        outputs = []
        for key, digest in due:
            state.delete(key)
            thread = _read(stored.get(THREAD_PREFIX + digest))
            if thread and thread.due_ms == _due_ms(key):
                outputs.append(self._idle(thread))
                state.put(THREAD_PREFIX + digest, _encoder.encode(thread))
        return outputs

    def counts(self) -> Mapping[str, int]:
        """Counts since the last call."""
        counts, self._counts = self._counts, Counter()
        return counts


def moved_thread(value: bytes) -> tuple[str, dict[bytes, bytes]] | None:
    """Give a thread's key and its entries for another log, from its entry under `THREAD_PREFIX` in this one.

    None for an entry of another version, which counts as none. What was applied there tells nothing of the other log's
    offsets, so the thread takes up whatever comes.
    """
    thread = _read(value)
    if thread is None:
        return None
    thread.applied = -1
    key = thread_key(thread.source.provider_account_key, thread.source.thread_id)
    entries = {THREAD_PREFIX + _digest(key): _encoder.encode(thread)}
    if thread.due_ms:
        entries[_due_key(_digest(key), thread.due_ms)] = b""
    return key, entries


def _summary(key: str, thread: ThreadState) -> CanonicalEvent:
    refs = thread.refs
    return CanonicalEvent(
        schema_version="1.0",
        source=thread.source,
        event=Event(
            id=derived_id(key, IDLE_LABEL, thread.last_id),
            type="summary",
            timestamp_iso=thread.last_iso,
            role="system",
            text=summary_text(thread),
            labels=[IDLE_LABEL],
            refs=refs if refs.task_ids or refs.issue_ids or refs.run_ids else None,
        ),
        meta=EventMeta(conversation_title=thread.title),
    )


def _identity_chars(source: Source) -> int:
    more = len(source.workspace or "") + len(source.channel_id or "")
    return len(source.provider_account_key) + len(source.thread_id) + more


def _digest(key: str) -> bytes:
    return hashlib.blake2b(key.encode(), digest_size=_DIGEST_BYTES).digest()


def _read(stored: bytes | None) -> ThreadState | None:
    """Give a stored state; one of another version counts as none, and the thread begins anew."""
    if stored is None:
        return None
    try:
        thread = _decoder.decode(stored)
    except ValueError:
        return None
    return thread if thread.version == STATE_VERSION else None


def _due_key(digest: bytes, due_ms: int) -> bytes:
    return _DUE + due_ms.to_bytes(8, "big") + digest


def _due_ms(key: bytes) -> int:
    return int.from_bytes(key[len(_DUE) : len(_DUE) + 8], "big")


def _move(state: State, digest: bytes, was_due: int, is_due: int) -> None:
    if was_due == is_due:
        return
    if was_due:
        state.delete(_due_key(digest, was_due))
    if is_due:
        state.put(_due_key(digest, is_due), b"")
