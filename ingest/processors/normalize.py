"""Normalising and deduplicating: what was captured becomes `conversations.events`.

`Normalizer` is the pure half: roles, times, plain text, keys, references, colony signals (`drafts`), the schema check
and the size limit. Normalising what was normalised changes nothing. `NormalizeProcessor` is the step of the stream: it
lets each `event.id` through once.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from ingest.log.contract import NewRecord, Record, Topic
from ingest.processors.contract import State
from ingest.processors.deduplicate import MENDED_LABEL, FirstSight, Known, Memory, Sight
from ingest.processors.drafts import drafts
from ingest.processors.records import MadeEvent, read_captured, rejected, rejection
from ingest.processors.size import fit
from ingest.processors.text import may_be_unclean
from schemas.captured import CapturedRecord, RejectedRecord, Replay
from schemas.event import MAX_EVENT_BYTES, CanonicalEvent, encode_typed
from schemas.keys import thread_key


class Encoded(msgspec.Struct, frozen=True):
    """A canonical event and its one line of JSON."""

    event: CanonicalEvent
    line: bytes


class Normalizer:
    """Turns captured records into canonical events, without memory: nothing is deduplicated here.

    `empty` counts the messages that gave no event because no words were left (E22).
    """

    def __init__(self) -> None:
        self.empty = 0

    def events(self, record: CapturedRecord) -> Iterator[CanonicalEvent | RejectedRecord]:
        """Give the canonical event of each captured one, in order, or what could not become one.

        Every event passes `schemas.event.encode` and fits `MAX_EVENT_BYTES`. Messages without words once terminal
        sequences are gone, and without anything that came with them, give none.
        """
        for outcome in self.encoded(record):
            yield outcome.event if isinstance(outcome, Encoded) else outcome

    def encoded(self, record: CapturedRecord) -> Iterator[Encoded | RejectedRecord]:
        """Give what `events` gives, with its JSON, for who would encode it anyway."""
        for draft in drafts(record):
            if is_blank(draft):
                self.empty += 1
            else:
                yield finish(draft)


def is_blank(event: CanonicalEvent) -> bool:
    """Whether an event is a message without words and without anything that came with it."""
    body = event.event
    return body.type == "message" and (not body.text or body.text.isspace()) and not event.meta.attachments


def finish(draft: CanonicalEvent) -> Encoded | RejectedRecord:
    """Check a draft against the schema, cut it to the size limit, and encode it."""
    try:
        line = encode_typed(draft)
        if len(line) > MAX_EVENT_BYTES:
            draft = fit(draft)
            line = encode_typed(draft)
    except ValueError as error:
        # msgspec.ValidationError is one. So is UnicodeEncodeError: an id with a lone surrogate, never from bytes.
        return rejection(draft.source.provider, f"{draft.source.thread_id}: {draft.event.id}", "invalid-event", error)
    return Encoded(draft, line)


class NormalizeProcessor:
    """`conversations.captured` to `conversations.events`, each `event.id` once; what is bad goes to `rejected`.

    Counts: `seen` captured events = `emitted` + `empty` + `duplicate` + `rejected`; `conflicting` are those of the
    duplicates whose words differ from the event that was kept, the first; `mended` are those of the emitted that take
    the place of an earlier one, as only a replay's may.
    """

    name: str = "normalize"
    input: Topic = Topic.CAPTURED

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def process(self, records: Sequence[Record], state: State) -> list[NewRecord]:
        """Normalise a batch of captured records."""
        read = [(record, *self._read(record)) for record in records]
        known = Known(state, [draft.event.id for _, found, _, _ in read for draft in found])
        outputs: list[NewRecord] = []
        for record, found, bad, replay in read:
            outputs += [rejected(record, item) for item in bad]
            if found:
                outputs += self._pass(record, found, FirstSight(known, record.time_ms, replay))
        return outputs

    def process_captured(self, captured: CapturedRecord, record: Record, memory: Memory) -> list[NewRecord]:
        """Normalise one record that was never encoded, as `process` would: of `record` only key and time are asked."""
        found = drafts(captured)
        self._counts["seen"] += len(found)
        return self._pass(record, found, memory)

    def _read(self, record: Record) -> tuple[list[CanonicalEvent], list[RejectedRecord], Replay | None]:
        captured, bad = read_captured(record)
        found = drafts(captured, clean_texts=not may_be_unclean(record.value)) if captured else []
        self._counts["seen"] += len(found) + len(bad)
        self._counts["rejected"] += len(bad)
        return found, bad, captured.replay if captured else None

    def _pass(self, record: Record, found: list[CanonicalEvent], first: Memory) -> list[NewRecord]:
        source = found[0].source
        key = thread_key(source.provider_account_key, source.thread_id)
        outputs: list[NewRecord] = []
        for draft in found:
            sight = None if is_blank(draft) else first.see(draft)
            if sight is Sight.FIRST or sight is Sight.MENDED:
                outputs.append(self._finished(record, key, draft, first, sight))
            else:
                self._count_passed_over(sight)
        # All at once, as is `seen`: a counter's turn costs as much as an event's key.
        self._counts["emitted"] += sum(type(output) is MadeEvent for output in outputs)
        return outputs

    def _finished(self, record: Record, key: str, draft: CanonicalEvent, first: Memory, sight: Sight) -> NewRecord:
        if sight is Sight.MENDED:
            draft.event.labels = [*draft.event.labels, MENDED_LABEL]
        outcome = finish(draft)
        if isinstance(outcome, RejectedRecord):
            first.forget(draft)
            self._counts["rejected"] += 1
            return rejected(record, outcome)
        if sight is Sight.MENDED:
            self._counts["mended"] += 1
        return MadeEvent(Topic.EVENTS, key, outcome.line, outcome.event, record)

    def _count_passed_over(self, sight: Sight | None) -> None:
        self._counts["duplicate" if sight else "empty"] += 1
        if sight is Sight.CONFLICTING:
            self._counts["conflicting"] += 1

    def tick(self, now_ms: int, state: State) -> list[NewRecord]:  # noqa: ARG002 - nothing here is due by the clock
        """Do nothing: normalising waits for no time."""
        return []

    def counts(self) -> Mapping[str, int]:
        """Counts since the last call."""
        counts, self._counts = self._counts, Counter()
        return counts
