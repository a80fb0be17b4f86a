"""From a captured event to a draft of its canonical one: mapping only, not yet checked or cut to size."""

from functools import lru_cache
from typing import Final, NamedTuple

import msgspec

from ingest.processors import colony
from ingest.processors.deduplicate import MENDED_LABEL
from ingest.processors.html_text import html_to_text
from ingest.processors.references import find_refs, merge_refs
from ingest.processors.roles import UNKNOWN_LABEL, speaker
from ingest.processors.text import clean, clean_line
from ingest.processors.times import EPOCH_ISO, first_iso, to_iso
from schemas.captured import CapturedEvent, CapturedRecord, Thread
from schemas.event import (
    SCHEMA_VERSION,
    Attachment,
    CanonicalEvent,
    Citation,
    Event,
    EventMeta,
    EventType,
    Refs,
    Source,
)
from schemas.keys import account_name, provider_account_key, provider_name

INFERRED_LABEL: Final = "time-inferred"
NO_TIME_LABEL: Final = "time-unknown"
"""Beside `time-inferred`: not even a neighbour has a time, and the event stands at 1970."""

_TOOL_TYPES: Final = frozenset({"tool_call", "tool_result"})

_Time = tuple[str, tuple[str, ...]]
"""A time, and the labels that say how it was found."""


class Heading(NamedTuple):
    """What the events of a record have in common: their source, the thread's title, and when they were captured."""

    source: Source
    title: str | None
    ingested: str | None


def heading_of(thread: Thread, captured_at: str | None) -> Heading:
    """Give what is the same in all canonical events of one record."""
    return Heading(_source(thread), _line(thread.title), to_iso(captured_at))


def drafts(record: CapturedRecord, *, clean_texts: bool = False) -> list[CanonicalEvent]:
    """Give one draft for each captured event of a record, in order.

    `clean_texts` says that its texts hold nothing for `clean` to remove, as `may_be_unclean` tells of their JSON.
    """
    source, title, ingested = heading_of(record.thread, record.captured_at)
    return [
        _draft(captured, _plain_text(captured, clean_texts=clean_texts), source, time, title, ingested)
        for captured, time in zip(record.events, _times(record), strict=True)
    ]


def _source(thread: Thread) -> Source:
    provider, account = provider_name(thread.provider), account_name(thread.account)
    return Source(
        provider=provider,
        provider_account_key=provider_account_key(provider, account),
        thread_id=thread.thread_id,
        account=account,
        workspace=thread.workspace,
        channel_id=thread.channel_id,
    )


def _times(record: CapturedRecord) -> list[_Time]:
    """Times of the events: their own, else that of the event before, else one nearby, else that of the event after."""
    known = [first_iso(event.times) for event in record.events]
    if None not in known:  # as nearly always
        return [(own, ()) for own in known if own]
    before = None if known and known[0] else first_iso(record.nearby_times)
    times: list[_Time] = []
    for position, own in enumerate(known):
        if own:
            times.append((own, ()))
            before = own
            continue
        before = before or next((later for later in known[position:] if later), None)
        times.append((before, (INFERRED_LABEL,)) if before else (EPOCH_ISO, (INFERRED_LABEL, NO_TIME_LABEL)))
        if before is None:
            return times * len(known)
    return times


def _plain_text(captured: CapturedEvent, *, clean_texts: bool) -> str:
    if captured.html:
        return clean(html_to_text(captured.text))
    return captured.text if clean_texts else clean(captured.text)


def _draft(
    captured: CapturedEvent, text: str, source: Source, time: _Time, title: str | None, ingested: str | None
) -> CanonicalEvent:
    role, known_role = speaker(source.provider, captured.role, captured.type)
    labels = [*_given(captured.labels), *time[1]] if captured.labels or time[1] else []
    if not known_role:
        labels.append(UNKNOWN_LABEL)
    refs = find_refs(text, tool_output=role == "tool" or captured.type in _TOOL_TYPES)
    event_type = captured.type
    if "[COLONY_SIGNAL:" in text:
        signal = colony.carried_signal(
            text, event_type=event_type, role=role, raw_type=captured.raw_type, tool_name=captured.tool_name
        )
        event_type, refs = _mark(signal, text, event_type, labels, refs)
    return CanonicalEvent(
        schema_version=SCHEMA_VERSION,
        source=msgspec.structs.replace(source, branch_id=captured.branch_id) if captured.branch_id else source,
        event=Event(
            id=captured.id,
            type=event_type,
            timestamp_iso=time[0],
            role=role,
            text=text,
            labels=list(dict.fromkeys(labels)) if len(labels) > 1 else labels,
            refs=merge_refs(captured.refs, refs) if captured.refs else refs,
        ),
        meta=_meta(captured, title, ingested),
    )


def _given(labels: list[str]) -> list[str]:
    """Give the labels of a source; that an event takes the place of another is for the normaliser alone to say."""
    return [label for label in labels if label and label != MENDED_LABEL]


def _mark(
    signal: colony.ColonySignal | None, text: str, event_type: EventType, labels: list[str], refs: Refs | None
) -> tuple[EventType, Refs | None]:
    """Give the type and references of an event with a tag in its text; its labels are added to in place."""
    if signal is None:
        if event_type != "signal" and colony.has_mention(text):
            labels.append(colony.MENTION_LABEL)
        return event_type, refs
    labels.extend(signal.labels())
    return "signal", merge_refs(refs, Refs(run_ids=[signal.run])) if signal.run else refs


def _meta(captured: CapturedEvent, title: str | None, ingested: str | None) -> EventMeta:
    return EventMeta(
        author_id=_line(captured.author_id),
        message_id=captured.message_id,
        raw_type=_line(captured.raw_type),
        ingested_at_iso=ingested,
        parent_message_id=captured.parent_message_id,
        conversation_title=title,
        model=_line(captured.model),
        tool_name=_line(captured.tool_name),
        tool_call_id=captured.tool_call_id,
        attachments=[_clean_attachment(item) for item in captured.attachments] if captured.attachments else [],
        citations=[_clean_citation(item) for item in captured.citations] if captured.citations else [],
    )


@lru_cache(maxsize=1024)  # a stream names the same few models, tools and kinds again and again
def _line(text: str | None) -> str | None:
    return (clean_line(text) or None) if text else None


def _clean_attachment(item: Attachment) -> Attachment:
    return msgspec.structs.replace(item, name=_line(item.name), kind=_line(item.kind) or "file")


def _clean_citation(item: Citation) -> Citation:
    quote = clean(item.quote) or None if item.quote else None
    return msgspec.structs.replace(item, title=_line(item.title), quote=quote)
