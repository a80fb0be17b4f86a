"""Builders and runners for tests of processors."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from ingest.log.contract import NewRecord, Record, Topic
from ingest.processors.contract import Processor, State
from ingest.processors.normalize import NormalizeProcessor, Normalizer
from schemas.captured import CapturedEvent, CapturedRecord, RejectedRecord, Thread, encode_record
from schemas.event import CanonicalEvent, decode, encode
from schemas.ids import event_id

NOON: Final = "2026-03-14T12:00:00.000Z"
NOON_MS: Final = 1_773_489_600_000


class MemoryState:
    """A processor's store in a dictionary."""

    def __init__(self) -> None:
        self._entries: dict[bytes, bytes] = {}

    def get_many(self, keys: Iterable[bytes]) -> Mapping[bytes, bytes]:
        """The values of those keys that are there."""
        entries = self._entries
        return {key: entries[key] for key in keys if key in entries}

    def put(self, key: bytes, value: bytes) -> None:
        """Set a key."""
        self._entries[key] = value

    def delete(self, key: bytes) -> None:
        """Remove a key; one that is not there is fine."""
        self._entries.pop(key, None)

    def scan(self, prefix: bytes, limit: int) -> list[tuple[bytes, bytes]]:
        """Entries with a key that begins with `prefix`, in key order."""
        return sorted((key, value) for key, value in self._entries.items() if key.startswith(prefix))[:limit]


def captured(text: str = "some words", **members: Any) -> CapturedEvent:
    """A captured message of a pi user; any member can be given."""
    defaults: dict[str, Any] = {"type": "message", "role": "user", "times": [NOON]}
    merged = {**defaults, **members}
    merged.setdefault("id", event_id("test", text, repr(sorted(members.items(), key=str))))
    return CapturedEvent(text=text, **merged)


def record_of(*events: CapturedEvent, **members: Any) -> CapturedRecord:
    """A captured record of a pi thread; `thread` members are given with their names."""
    names = {"provider", "thread_id", "account", "workspace", "channel_id", "title"}
    thread = {"provider": "pi", "thread_id": "t-1"} | {k: v for k, v in members.items() if k in names}
    rest = {name: value for name, value in members.items() if name not in names}
    return CapturedRecord(thread=Thread(**thread), events=list(events), **rest)


def normalized(*events: CapturedEvent, **members: Any) -> list[CanonicalEvent]:
    """The canonical events of one record; a rejection fails the test."""
    outcomes = list(Normalizer().events(record_of(*events, **members)))
    assert not [outcome for outcome in outcomes if isinstance(outcome, RejectedRecord)]
    return [outcome for outcome in outcomes if isinstance(outcome, CanonicalEvent)]


def event(text: str = "some words", **members: Any) -> CanonicalEvent:
    """The canonical event of one captured one; members of the record are given with their names."""
    names = {"provider", "thread_id", "account", "workspace", "channel_id", "title", "captured_at"}
    of_record = {name: value for name, value in members.items() if name in names}
    of_event = {name: value for name, value in members.items() if name not in names}
    (result,) = normalized(captured(text, **of_event), **of_record)
    return result


def again(source: CanonicalEvent) -> CapturedRecord:
    """A canonical event as a reader of canonical files captures it."""
    body, meta = source.event, source.meta
    thread = Thread(
        provider=source.source.provider,
        thread_id=source.source.thread_id,
        account=source.source.account,
        workspace=source.source.workspace,
        channel_id=source.source.channel_id,
        title=meta.conversation_title,
    )
    one = CapturedEvent(
        id=body.id,
        type=body.type,
        role=body.role,
        text=body.text,
        times=[body.timestamp_iso],
        branch_id=source.source.branch_id,
        labels=body.labels,
        refs=body.refs,
        author_id=meta.author_id,
        message_id=meta.message_id,
        parent_message_id=meta.parent_message_id,
        raw_type=meta.raw_type,
        model=meta.model,
        tool_name=meta.tool_name,
        tool_call_id=meta.tool_call_id,
        attachments=meta.attachments,
        citations=meta.citations,
    )
    return CapturedRecord(thread=thread, events=[one], captured_at=meta.ingested_at_iso)


def captured_records(records: Iterable[CapturedRecord], time_ms: int = NOON_MS) -> list[Record]:
    """Log records of `conversations.captured`."""
    return [
        Record(Topic.CAPTURED, offset, f"pi/{record.thread.thread_id}", encode_record(record), time_ms)
        for offset, record in enumerate(records, 1)
    ]


def event_records(events: Iterable[CanonicalEvent], time_ms: int = NOON_MS, first: int = 1) -> list[Record]:
    """Log records of `conversations.events`, all appended at one time."""
    return [
        Record(Topic.EVENTS, offset, f"{e.source.provider_account_key}/{e.source.thread_id}", encode(e), time_ms)
        for offset, e in enumerate(events, first)
    ]


def run(
    processor: Processor, records: Sequence[Record], state: State | None = None, batch: int = 1000
) -> list[NewRecord]:
    """What a processor gives for records that come in batches of a size."""
    state = state or MemoryState()
    outputs: list[NewRecord] = []
    for start in range(0, len(records), batch):
        outputs += processor.process(records[start : start + batch], state)
    return outputs


def normalize_all(records: Sequence[Record], batch: int = 1000) -> list[CanonicalEvent]:
    """The events that the normalising processor lets through."""
    outputs = run(NormalizeProcessor(), records, batch=batch)
    return [decode(output.value) for output in outputs if output.topic is Topic.EVENTS]
