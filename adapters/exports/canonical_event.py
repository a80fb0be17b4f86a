"""One JSON object that claims to be a conversation event → a captured event: tolerant of what readers forgive.

Forgiven: flat events without the inner `event`, other names for time, role and text, content given as blocks, unknown
members, a missing id. Source: formats/session-triage-origin.md 1.3 and E44 to E50.
"""

import re
from collections.abc import Mapping
from typing import Any, Final, get_args

import msgspec

from adapters.contract import Heard, Rejected, Skipped
from schemas.captured import CapturedEvent, RawTime, Thread
from schemas.event import Attachment, CanonicalEvent, Citation, EventType, Refs
from schemas.ids import event_id
from schemas.keys import InvalidKeyError, account_name, parse_key, provider_name

DEFAULT_PROVIDER: Final = "custom"
UNTHREADED: Final = "unthreaded"
"""The thread of flat events that name none."""

EVENT_MARKS: Final = frozenset({"event", "source", "text", "message", "content"})
"""An object with none of these members is no event."""

_TYPES: Final = frozenset(get_args(EventType))
_ID: Final = re.compile(r"[^\x00-\x20]{1,200}")
_WORDLESS: Final = frozenset({"tool_call", "tool_result", "status"})
"""Types that say something even without words; a message or summary without words does not."""

_TIMES: Final = ("timestampIso", "timestamp", "createdAt", "created_at")
_ROLES: Final = ("role", "authorRole", "author_role")
_TEXTS: Final = ("text", "message", "content")

JsonObject = Mapping[str, Any]

_Names = tuple[str, str, str | None, str | None, str | None, str | None]
"""What tells a thread: provider, thread, account, workspace, channel, title."""


class CanonicalEvents:
    """Turns objects into captured events; keeps one `Thread` for consecutive events of a conversation."""

    def __init__(self, account: str | None = None) -> None:
        self._account = account
        self._threads: dict[_Names, Thread] = {}

    def typed(self, event: CanonicalEvent) -> Heard | Skipped:
        """Read an event that keeps to the schema, as ours do: the fast road, which `element` agrees with."""
        source, inner, meta = event.source, event.event, event.meta
        if not inner.text.strip() and inner.type not in _WORDLESS:
            return Skipped("empty", f"{inner.type} without words")
        account = account_name(source.account) or account_name(source.provider_account_key.partition("/")[2])
        names = (source.provider, source.thread_id, account, source.workspace, source.channel_id)
        thread = self._known((*names, meta.conversation_title))
        return Heard(
            thread,
            CapturedEvent(
                id=inner.id,
                type=inner.type,
                role=inner.role,
                text=inner.text,
                times=[inner.timestamp_iso],
                labels=inner.labels,
                branch_id=source.branch_id,
                refs=inner.refs if inner.refs and any(msgspec.structs.astuple(inner.refs)) else None,
                author_id=meta.author_id,
                message_id=meta.message_id,
                parent_message_id=meta.parent_message_id,
                raw_type=meta.raw_type,
                model=meta.model,
                tool_name=meta.tool_name,
                tool_call_id=meta.tool_call_id,
                attachments=meta.attachments,
                citations=meta.citations,
            ),
        )

    def element(self, value: object, where: str) -> Heard | Rejected | Skipped:
        """Read one value; what is no event is rejected with its place."""
        if not isinstance(value, dict):
            return Rejected(where, "not-an-object", f"a {type(value).__name__} where an event is expected")
        if not EVENT_MARKS & value.keys():
            return Rejected(where, "not-an-event", "none of event, source, text, message, content is there")
        source, inner, meta = _part(value, "source"), _part(value, "event") or value, _part(value, "meta")
        try:
            thread = self._thread(source, meta)
        except InvalidKeyError as error:
            return Rejected(where, "invalid-key", str(error))
        kind, labels = _kind(inner)
        text = _text(inner)
        if not text.strip() and kind not in _WORDLESS:
            return Skipped("empty", f"{kind} without words")
        return Heard(thread, _event(thread, source, inner, meta, kind, labels, text))

    def _thread(self, source: JsonObject, meta: JsonObject) -> Thread:
        provider, account = provider_name(source.get("provider") or DEFAULT_PROVIDER), None
        if not _word(source, "provider") and (key := _word(source, "providerAccountKey")):
            provider, account = parse_key(key)
        account = account_name(source.get("account")) or account or self._key_account(source)
        names = (provider, _word(source, "threadId") or UNTHREADED, account)
        where = (_word(source, "workspace"), _word(source, "channelId"), _word(meta, "conversationTitle"))
        return self._known((*names, *where))

    def _known(self, names: _Names) -> Thread:
        known = self._threads.get(names)
        if known is None:
            if len(self._threads) >= 1000:  # noqa: PLR2004 - a cache for batching, not a memory of all threads
                self._threads.clear()
            provider, thread_id, account, workspace, channel, title = names
            known = self._threads[names] = Thread(
                provider=provider_name(provider),
                thread_id=thread_id,
                account=account or self._account,
                workspace=workspace,
                channel_id=channel,
                title=title,
            )
        return known

    @staticmethod
    def _key_account(source: JsonObject) -> str | None:
        key = _word(source, "providerAccountKey") or ""
        return account_name(key.partition("/")[2])


def _event(
    thread: Thread,
    source: JsonObject,
    inner: JsonObject,
    meta: JsonObject,
    kind: EventType,
    labels: list[str],
    text: str,
) -> CapturedEvent:
    times = [t for name in _TIMES if (t := _time(inner.get(name))) is not None]
    role = next((r for name in _ROLES if (r := _word(inner, name))), "")
    identifier = inner.get("id")
    if not isinstance(identifier, str) or not _ID.fullmatch(identifier):
        first = str(times[0]) if times else None
        identifier = event_id("canonical", thread.provider, thread.account, thread.thread_id, kind, role, first, text)
    return CapturedEvent(
        id=identifier,
        type=kind,
        role=role,
        text=text,
        times=times,
        labels=labels,
        branch_id=_word(source, "branchId"),
        refs=_refs(_part(inner, "refs")),
        author_id=_word(meta, "authorId"),
        message_id=_word(meta, "messageId"),
        parent_message_id=_word(meta, "parentMessageId"),
        raw_type=_word(meta, "rawType"),
        model=_word(meta, "model"),
        tool_name=_word(meta, "toolName"),
        tool_call_id=_word(meta, "toolCallId"),
        attachments=[_attachment(a) for a in _objects(meta, "attachments")],
        citations=[_citation(c) for c in _objects(meta, "citations")],
    )


def _part(value: JsonObject, name: str) -> JsonObject:
    part = value.get(name)
    return part if isinstance(part, dict) else {}


def _word(value: JsonObject, name: str) -> str | None:
    """Give a member that is text with something in it; a number counts as its digits."""
    word = value.get(name)
    if isinstance(word, int) and not isinstance(word, bool):
        return str(word)
    return word if isinstance(word, str) and word.strip() else None


def _time(value: object) -> RawTime | None:
    """Give a value that may be a time: the normaliser decides."""
    if isinstance(value, str):
        return value if value.strip() else None
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _kind(inner: JsonObject) -> tuple[EventType, list[str]]:
    labels = _words(inner, "labels")
    kind = inner.get("type")
    if isinstance(kind, str) and kind in _TYPES:
        return kind, labels  # type: ignore[return-value]  # the set holds the literal's words
    return "message", [*labels, "type-unknown"] if kind is not None and "event" not in inner else labels


def _text(inner: JsonObject) -> str:
    for name in _TEXTS:
        if isinstance(text := inner.get(name), str):
            return text
    blocks = inner.get("content")
    if not isinstance(blocks, list):
        return ""
    return "\n".join(words for block in blocks if (words := _block(block)) is not None)


def _block(block: object) -> str | None:
    if isinstance(block, str):
        return block
    if isinstance(block, dict):
        return next((b for name in ("text", "content") if isinstance(b := block.get(name), str)), None)
    return None


def _words(value: JsonObject, name: str) -> list[str]:
    items = value.get(name)
    return [item for item in items if isinstance(item, str) and item] if isinstance(items, list) else []


def _objects(value: JsonObject, name: str) -> list[JsonObject]:
    items = value.get(name)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _refs(refs: JsonObject) -> Refs | None:
    found = Refs(task_ids=_words(refs, "taskIds"), issue_ids=_words(refs, "issueIds"), run_ids=_words(refs, "runIds"))
    return found if found.task_ids or found.issue_ids or found.run_ids else None


def _attachment(item: JsonObject) -> Attachment:
    size = item.get("sizeBytes")
    return Attachment(
        kind=_word(item, "kind") or "file",
        name=_word(item, "name"),
        mime_type=_word(item, "mimeType"),
        url=_word(item, "url"),
        size_bytes=size if isinstance(size, int) and not isinstance(size, bool) and size >= 0 else None,
    )


def _citation(item: JsonObject) -> Citation:
    return Citation(url=_word(item, "url"), title=_word(item, "title"), quote=_word(item, "quote"))
