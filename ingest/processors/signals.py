"""Signals: what an operator should hear of, drawn from `conversations.events`.

Colony signals pass on as they are. From other events one signal is derived for each event and code, with the words
that prove it: tooling gaps (`gaps`), `rate-limit`, `error` (where neither says it better), `aborted`, `blocked`. A
failed call of a tool is daily work and no signal of its own; only a gap or a rate limit in its words is.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from ingest.log.contract import NewRecord, Record, Topic
from ingest.processors.contract import State
from ingest.processors.gaps import (
    GAPS,
    Evidence,
    edges,
    first_line,
    gaps,
    is_machine_output,
    is_said,
    may_be_said,
    pattern,
    spoken,
)
from ingest.processors.headings import summary_items
from ingest.processors.records import EventRecord, event_of, rejected, rejection
from ingest.processors.text import shorten
from schemas.event import CanonicalEvent, EventMeta, encode
from schemas.ids import derived_id

SIGNAL_LABEL: Final = "signal:"
"""Begins the label that names a derived signal's code, as in `signal:rate-limit`."""

EVIDENCE_CHARS: Final = 300
"""Of the quoted line: what a report shows, and enough to find it again."""

_SILENT: Final = (b'"role":"user"', b'"type":"tool_call"')
"""In the JSON of events that no signal comes from; within a text the quotes are escaped. Saves their decoding."""

CODES: Final = (*(rule.code for rule in GAPS), "rate-limit", "error", "aborted", "blocked")

_RATE_LIMIT: Final = pattern(
    ("429", "rate", "too many requests", "quota", "capacity", "resource"),
    r"\b429\b",
    r"\brate[ _-]?limit",
    r"\btoo many requests\b",
    r"\bquota (?:was |has been )?(?:exceeded|exhausted)",
    r"\bexceeded (?:your |the )?(?:current )?quota",
    r"\bcapacity (?:was |has been )?reached\b",
    r"\bresource[ _]?(?:has been )?exhausted\b",
)
# In a tool's output the number alone is a line number as often as a status.
_TOOL_RATE_LIMIT: Final = pattern(
    ("429", "rate limit", "rate_limit", "ratelimit", "too many requests", "quota exceeded", "resource_exhausted"),
    r"\b(?:HTTP(?:/[\d.]+)?|status(?: code)?|error|code)\W{0,3}429\b",
    r"\b429:? too many requests\b",
    r"\brate[ _-]?limit(?:ed|s)? (?:was |has been )?(?:exceeded|reached|hit)\b",
    r"\brate_limit_exceeded\b|\bRateLimitError\b|\brate[ _-]limited\b",
    r"\btoo many requests\b",
    r"\bquota exceeded\b|\bresource_exhausted\b",
)
_BLOCKED: Final = pattern(
    ("blocked", "bloquead"),
    r"\b(?:I am|I'm|I\u2019m|we are|we're|we\u2019re) (?:now |currently |still |completely )?blocked\b",
    r"^\W*(?:status\W{1,4})?blocked(?: by| on)?\W{0,2}[:\u2014\u2013-][\s*_]{0,4}\S",
    r"\bblocked (?:until|on) (?:you|your|the operator|operator|approval|review)\b",
    r"\b(?:estou|estamos) bloquead[oa]s?\b",
    r"^\W*bloquead[oa]s?\W{0,2}:[\s*_]{0,4}\S",
)


def derive(event: CanonicalEvent) -> list[CanonicalEvent]:
    """Give the signals that an event gives rise to, one for each code."""
    return [_signal(event, evidence) for evidence in evidence_of(event)]


def evidence_of(event: CanonicalEvent) -> list[Evidence]:
    """Give the codes that an event shows, each once, with the words that show it."""
    kind = event.event.type
    if kind == "status":
        return _status(event)
    if kind == "tool_result":
        return [*gaps(event), *_tool(event)] if is_machine_output(event) else []
    if kind == "summary":
        blocked = summary_items(event.event.text).blocked
        return [Evidence("blocked", "; ".join(blocked))] if blocked else []
    if not is_said(event):
        return []
    lowered = event.event.text.lower()
    found = gaps(event) if may_be_said(lowered) else []
    if "blocked" in lowered or "bloquead" in lowered:
        found += _blocked(event)
    return found


def _status(event: CanonicalEvent) -> list[Evidence]:
    labels, text = event.event.labels, event.event.text
    found = gaps(event)
    if "error" in labels or "rate-limit" in labels:
        line = first_line(_RATE_LIMIT, edges(text))
        if line or "rate-limit" in labels:
            found.append(Evidence("rate-limit", line or text))
        elif not found:
            found.append(Evidence("error", text))
    if "aborted" in labels:
        found.append(Evidence("aborted", text))
    return found


def _tool(event: CanonicalEvent) -> Iterator[Evidence]:
    line = first_line(_TOOL_RATE_LIMIT, edges(event.event.text)) if "error" in event.event.labels else None
    if line:
        yield Evidence("rate-limit", line)


def _blocked(event: CanonicalEvent) -> Iterator[Evidence]:
    line = first_line(_BLOCKED, spoken(event.event.text))
    if line:
        yield Evidence("blocked", line)


def _signal(event: CanonicalEvent, evidence: Evidence) -> CanonicalEvent:
    meta = event.meta
    return CanonicalEvent(
        schema_version=event.schema_version,
        source=event.source,
        event=msgspec.structs.replace(
            event.event,
            id=derived_id(event.event.id, "signal", evidence.code),
            type="signal",
            text=shorten(evidence.line, EVIDENCE_CHARS),
            labels=[SIGNAL_LABEL + evidence.code],
        ),
        meta=EventMeta(
            author_id=meta.author_id,
            parent_message_id=meta.message_id,
            ingested_at_iso=meta.ingested_at_iso,
            conversation_title=meta.conversation_title,
            model=meta.model,
            tool_name=meta.tool_name,
            tool_call_id=meta.tool_call_id,
        ),
    )


def _is_silent(record: Record) -> bool:
    """Whether an event gives no signal, whatever its words are."""
    if isinstance(record, EventRecord):
        body = record.event.event
        return body.role == "user" or body.type == "tool_call"
    return any(member in record.value for member in _SILENT)


class SignalsProcessor:
    """`conversations.events` to `conversations.signals`.

    Counts: `seen` events, `emitted` signals, and of these each code as `signal:<code>` or `colony`; `rejected` records.
    """

    name: str = "signals"
    input: Topic = Topic.EVENTS

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def process(self, records: Sequence[Record], state: State) -> list[NewRecord]:  # noqa: ARG002 - needs no state
        """Give the signals of a batch of events."""
        self._counts["seen"] += len(records)
        return [output for record in records if not _is_silent(record) for output in self._outputs(record)]

    def _outputs(self, record: Record) -> Iterator[NewRecord]:
        try:
            event = event_of(record)
        except (ValueError, RecursionError) as error:
            self._counts["rejected"] += 1
            bad = rejection(record.topic, f"offset {record.offset}", "invalid-event", error, record.value)
            yield rejected(record, bad)
            return
        if event.event.type == "signal":
            self._count("colony")
            yield NewRecord(Topic.SIGNALS, record.key, record.value)
            return
        for signal in derive(event):
            self._count(signal.event.labels[0])
            yield NewRecord(Topic.SIGNALS, record.key, encode(signal))

    def _count(self, name: str) -> None:
        self._counts["emitted"] += 1
        self._counts[name] += 1

    def tick(self, now_ms: int, state: State) -> list[NewRecord]:  # noqa: ARG002 - nothing here is due by the clock
        """Do nothing: a signal waits for no time."""
        return []

    def counts(self) -> Mapping[str, int]:
        """Counts since the last call."""
        counts, self._counts = self._counts, Counter()
        return counts
