"""The usual events' lines at once: words of somebody, with a time and an id, and nothing else about them.

Nine of ten events of an export are that, and one differs from the next of its kind in seven members. So the long way
(`drafts`, `encode_typed`) is asked once for each kind, with a mark in the place of each, and its answer is the frame
that the real ones are set into: a fifth of the cost, and no rule is told twice. A test compares both ways.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import msgspec

from ingest.processors.drafts import drafts, heading_of
from ingest.processors.references import find_refs, may_refer
from ingest.processors.text import is_clean, may_be_unclean
from schemas.captured import CapturedEvent, CapturedRecord, Thread
from schemas.event import MAX_EVENT_BYTES, check_ids, encode_typed

_encoder: Final = msgspec.json.Encoder()
_encode: Final = _encoder.encode
_encode_lines: Final = _encoder.encode_lines

_Kind = tuple[str, str | None, str | None, str | None, bool, tuple[str, ...]]
"""Role, raw type, model, author, whether there is a parent, labels: what is the same in very many events."""

_Frame = tuple[bytes, ...]
"""A line parted at source, id, time, text, message id, ingestion, parent and title: what is before each, and last."""

_MARKED: Final = Thread(provider="mark", thread_id="mark-thread", title="mark-title")
_ID, _MESSAGE, _PARENT, _TEXT = "mark-id", "mark-message", "mark-parent", "mark-text"
_TIME, _INGESTED = "0001-02-03T04:05:06.007Z", "0001-02-03T04:05:06.008Z"

_MAX_KINDS: Final = 1024
"""Some dozens in a file; authors of large groups are many."""

_OPENING: Final = ord("[")


class UsualLines:
    """Gives the lines of one thread's usual events, all captured at the same time."""

    def __init__(self, thread: Thread, captured_at: str | None) -> None:
        heading = heading_of(thread, captured_at)
        self._source = heading.source
        self._own = _encode(heading.source)
        self._title = _encode(heading.title) if heading.title else b""
        self._ingested = _encode(heading.ingested) if heading.ingested else b""
        self._frames = _frames(heading.source.provider, bool(heading.title), bool(heading.ingested))

    def lines(self, events: Sequence[CapturedEvent], times: Sequence[str]) -> list[bytes | None]:
        """Give the line of each event, None for one that must go the long way; `times` are their own, normalised."""
        try:
            return self._lines(events, times)
        except ValueError:  # an id that is none, or half a surrogate pair: the long way rejects its event by name
            if len(events) == 1:
                return [None]
            return [self.lines([event], [time])[0] for event, time in zip(events, times, strict=True)]

    def _lines(self, events: Sequence[CapturedEvent], times: Sequence[str]) -> list[bytes | None]:
        """Raises `ValueError` for what no line can hold."""
        identities = [event.id for event in events]
        check_ids(identities)
        texts = _encode_lines([event.text for event in events])
        plain = not _may_say_more(texts)
        values = zip(
            events,
            times,
            _parts(_encode_lines(identities)),
            _parts(texts),
            _parts(_encode_lines([event.message_id for event in events])),
            _parts(_encode_lines([event.parent_message_id for event in events])),
            strict=True,
        )
        return [
            self._line(event, time, identity, words, message, parent)
            if plain or not _says_more(event.text, words)
            else None
            for event, time, identity, words, message, parent in values
        ]

    def _line(
        self, event: CapturedEvent, time: str, identity: bytes, words: bytes, message: bytes, parent: bytes
    ) -> bytes | None:
        """Set an event's JSON values into its frame."""
        text = event.text
        if (
            event.type != "message"
            or not event.message_id
            or event.parent_message_id == ""
            or event.branch_id == ""
            or event.html
            or event.attachments
            or event.citations
            or event.tool_name is not None
            or event.tool_call_id is not None
            or event.refs is not None
            or not text
            or text.isspace()
        ):
            return None
        has_parent = event.parent_message_id is not None
        kind = (event.role, event.raw_type, event.model, event.author_id, has_parent, tuple(event.labels))
        frame = self._frames[kind]
        if frame is None:
            return None
        start, sourced, at, said, named, noted, below, titled, end = frame
        line = b"".join((
            start, self._own if event.branch_id is None else self._source_of(event.branch_id), sourced, identity, at,
            _encode(time), said, words, named, message, noted, self._ingested, below, parent if has_parent else b"",
            titled, self._title, end,
        ))  # fmt: skip
        return line if len(line) <= MAX_EVENT_BYTES else None

    def _source_of(self, branch: str) -> bytes:
        return _encode(msgspec.structs.replace(self._source, branch_id=branch))


class _Frames(dict[_Kind, _Frame | None]):
    """The frames of one provider's kinds, made when they are asked for."""

    def __init__(self, provider: str, *, has_title: bool, has_ingested: bool) -> None:
        super().__init__()
        self._thread = msgspec.structs.replace(_MARKED, provider=provider, title=_MARKED.title if has_title else None)
        self._ingested = _INGESTED if has_ingested else None

    def __missing__(self, kind: _Kind) -> _Frame | None:
        if len(self) >= _MAX_KINDS:
            self.clear()
        frame = self[kind] = _frame(self._thread, kind, self._ingested)
        return frame


@lru_cache(maxsize=64)
def _frames(provider: str, has_title: bool, has_ingested: bool) -> _Frames:
    return _Frames(provider, has_title=has_title, has_ingested=has_ingested)


def _parts(encoded: bytes) -> list[bytes]:
    """Part JSON values that each end with a newline; none has one inside."""
    return encoded[:-1].split(b"\n")


def _may_say_more(words: bytes) -> bool:
    """Whether `_says_more` may be true of any of several texts, by their JSON: a quick no for words alone."""
    return may_be_unclean(words) or _OPENING in words or may_refer(words)


def _says_more(text: str, words: bytes) -> bool:
    """Whether something in a text asks for more than to be passed on: `words` is its JSON."""
    return (
        (may_be_unclean(words) and not is_clean(text))
        or (_OPENING in words and b"[COLONY_SIGNAL:" in words)  # one byte is looked for ten times as fast
        or (may_refer(words) and find_refs(text) is not None)
    )


def _marked(kind: _Kind) -> CapturedEvent:
    role, raw_type, model, author, has_parent, labels = kind
    return CapturedEvent(
        id=_ID,
        type="message",
        role=role,
        text=_TEXT,
        times=[_TIME],
        labels=list(labels),
        author_id=author,
        message_id=_MESSAGE,
        parent_message_id=_PARENT if has_parent else None,
        raw_type=raw_type,
        model=model,
    )


def _frame(thread: Thread, kind: _Kind, ingested: str | None) -> _Frame | None:
    """Give the frame of a kind, or None where the long way would not take the kind as it stands.

    A member that is absent parts nothing: the part before its place is empty, and the next part holds all.
    """
    _, raw_type, model, author, has_parent, labels = kind
    if "" in (raw_type, model, author, *labels):
        return None
    draft = drafts(CapturedRecord(thread=thread, events=[_marked(kind)], captured_at=ingested))[0]
    if draft.event.type != "message" or draft.event.text != _TEXT:
        return None
    marks = (draft.source, _ID, _TIME, _TEXT, _MESSAGE, ingested, _PARENT if has_parent else None, thread.title)
    try:
        return _parted(encode_typed(draft), [b"" if mark is None else _encode(mark) for mark in marks])
    except ValueError:  # half a surrogate pair
        return None


def _parted(line: bytes, marks: list[bytes]) -> _Frame | None:
    """Part a line at marks that stand in it in this order, each once; None when they do not."""
    parts: list[bytes] = []
    for mark in marks:
        if not mark:
            parts.append(b"")
            continue
        before, found, line = line.partition(mark)
        if not found or mark in line:
            return None
        parts.append(before)
    return (*parts, line)
