"""The usual event's line at once: words of somebody, with a time and an id, and nothing else about them.

Nine of ten events of an export are that, and one differs from the next of its kind in seven members. So the long way
(`drafts`, `encode_typed`) is asked once for each kind, with a mark in the place of each, and its answer is the frame
that the real ones are set into: a third of the cost, and no rule is told twice. A test compares both ways.
"""

from functools import lru_cache
from typing import Final

import msgspec

from ingest.processors.drafts import drafts
from ingest.processors.references import find_refs, may_refer
from ingest.processors.text import is_clean_json
from schemas.captured import CapturedEvent, CapturedRecord, Thread
from schemas.event import MAX_EVENT_BYTES, check_id, encode_typed

_encode: Final = msgspec.json.Encoder().encode

_Kind = tuple[str, str | None, str | None, str | None, bool, tuple[str, ...]]
"""Role, raw type, model, author, whether there is a parent, labels: what is the same in very many events."""

_Frame = tuple[bytes, ...]
"""A line parted at source, id, time, text, message id, ingestion, parent and title: what is before each, and last."""

_MARKED: Final = Thread(provider="mark", thread_id="mark-thread", title="mark-title")
_ID, _MESSAGE, _PARENT, _TEXT = "mark-id", "mark-message", "mark-parent", "mark-text"
_TIME, _INGESTED = "0001-02-03T04:05:06.007Z", "0001-02-03T04:05:06.008Z"

_OPENING: Final = ord("[")


class UsualLines:
    """Gives the lines of one thread's usual events, all captured at the same time."""

    def __init__(self, thread: Thread, captured_at: str | None) -> None:
        marked = _marked(("user", None, None, None, False, ()))
        model = drafts(CapturedRecord(thread=thread, events=[marked], captured_at=captured_at))[0]
        title, ingested = model.meta.conversation_title, model.meta.ingested_at_iso
        self._source = model.source
        self._own = _encode(model.source)
        self._title = _encode(title) if title else b""
        self._ingested = _encode(ingested) if ingested else b""
        self._frames: dict[_Kind, _Frame | None] = {}

    def line(self, event: CapturedEvent, time_iso: str) -> bytes | None:
        """Give the line of an event, or None when it must go the long way; `time_iso` is its own time, normalised."""
        text, identity, parent = event.text, event.message_id, event.parent_message_id
        branch = event.branch_id
        if (
            event.type != "message"
            or not identity
            or parent == ""
            or branch == ""
            or event.html
            or event.attachments
            or event.citations
            or event.tool_name is not None
            or event.tool_call_id is not None
            or event.refs is not None
        ):
            return None
        kind = (event.role, event.raw_type, event.model, event.author_id, parent is not None, tuple(event.labels))
        if kind not in self._frames:
            self._frames[kind] = _frame(self._source.provider, kind, bool(self._title), bool(self._ingested))
        frame = self._frames[kind]
        try:
            words = _encode(text)
            check_id(event.id)
            if frame is None or _says_more(text, words):
                return None
            start, sourced, at, said, named, noted, below, titled, end = frame
            line = b"".join((
                start, self._own if branch is None else self._source_of(branch), sourced, _encode(event.id), at,
                _encode(time_iso), said, words, named, _encode(identity), noted, self._ingested, below,
                b"" if parent is None else _encode(parent), titled, self._title, end,
            ))  # fmt: skip
        except ValueError:  # an id that is none, or half a surrogate pair: the long way rejects it by name
            return None
        return line if len(line) <= MAX_EVENT_BYTES else None

    def _source_of(self, branch: str) -> bytes:
        return _encode(msgspec.structs.replace(self._source, branch_id=branch))


def _says_more(text: str, words: bytes) -> bool:
    """Whether something in a text asks for more than to be passed on: `words` is its JSON."""
    return (
        not is_clean_json(text, words)
        or (_OPENING in words and b"[COLONY_SIGNAL:" in words)  # one byte is looked for ten times as fast
        or (may_refer(words) and find_refs(text) is not None)
        or not text
        or text.isspace()
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


@lru_cache(maxsize=1024)  # some dozens in a file; authors of large groups are many
def _frame(provider: str, kind: _Kind, has_title: bool, has_ingested: bool) -> _Frame | None:
    """Give the frame of a kind, or None where the long way would not take the kind as it stands.

    A member that is absent parts nothing: the part before its place is empty, and the next part holds all.
    """
    _, raw_type, model, author, has_parent, labels = kind
    if "" in (raw_type, model, author, *labels):
        return None
    thread = msgspec.structs.replace(_MARKED, provider=provider, title=_MARKED.title if has_title else None)
    ingested = _INGESTED if has_ingested else None
    draft = drafts(CapturedRecord(thread=thread, events=[_marked(kind)], captured_at=ingested))[0]
    if draft.event.type != "message" or draft.event.text != _TEXT:
        return None
    marks = (draft.source, _ID, _TIME, _TEXT, _MESSAGE, ingested, _PARENT if has_parent else None, thread.title)
    return _parted(encode_typed(draft), [b"" if mark is None else _encode(mark) for mark in marks])


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
