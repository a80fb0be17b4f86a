"""Gemini's chats where a file holds one: the described `Gemini/` layout, web exporters, and Gemini in Workspace.

The first two bear ids. A Workspace file has its number only in its name, which the next export may give to another
chat: it is known by the time it was made, a turn by its role, index, time and words (a retry repeats the index). Its
times are those of the last change. Source: section 3.4 of the export formats.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from adapters.contract import Element, FileHead, ReadOptions, Rejected, Skipped
from adapters.exports.chat import Chat, attachments
from adapters.exports.fields import Object, array, first_word, identifier, obj, objects, raw_time, text, times, word
from adapters.exports.gemini_exchange import PROVIDER
from adapters.exports.records import Record, elements_of_whole, records
from adapters.exports.shape import conversations, outline
from schemas.captured import CapturedEvent
from schemas.ids import content_digest, event_id

_NOTICES: Final = frozenset({"info", "error", "warning"})


class GeminiConversationReader:
    """Reads `{"id", "title", "createdTime", "messages"}`, one or an array of them."""

    name = "Gemini conversation"
    provider = PROVIDER

    def recognises(self, head: FileHead) -> bool:
        """Whether the file holds messages with an author, or typed messages of a session."""
        found = conversations(head.start)
        names, inside = found.names(0), found.names(1)
        if "messages" not in names or "projectHash" in names:  # the latter are files of Google's command-line agent
            return False
        described = "author" in inside and bool({"createTime", "content"} & inside) and "createdTime" in names
        return described or ("sessionId" in names and {"type", "content"} <= inside)

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Yield every conversation, holding one at a time."""
        for record in records(stream, path):
            if isinstance(record, Record):
                yield from _conversation(record, options)
            else:
                yield record


class GeminiWorkspaceReader:
    """Reads `conversation_<N>.txt` of Gemini in Workspace."""

    name = "Gemini in Workspace conversation"
    provider = PROVIDER

    def recognises(self, head: FileHead) -> bool:
        """Whether the file is an object with conversation turns."""
        found = outline(head.start)
        return found.top == "{" and "conversation_turns" in found.names(0)

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Yield the conversation's turns in order."""
        return elements_of_whole(stream, path, lambda record: _workspace(record, options))


def _conversation(record: Record, options: ReadOptions) -> Iterator[Element]:
    value = record.value
    messages = value.get("messages")
    if not isinstance(messages, list):
        yield Rejected(record.where, "not-a-conversation", "no list of messages is there")
        return
    if not messages:
        yield Skipped("empty", "conversation without messages")
        return
    made = times(value.get("createdTime"), value.get("startTime"))
    key = first_word(identifier(value.get("id")), identifier(value.get("sessionId")))
    thread_id = key or event_id(PROVIDER, "thread", word(value.get("title")), *map(str, made[:1]))
    chat = Chat(PROVIDER, thread_id, options, title=value.get("title"), nearby=made)
    for place, message in enumerate(messages):
        if isinstance(message, dict):
            yield from _message(chat, message)
        else:
            where = f"{record.where}: {thread_id}: message {place + 1}"
            yield Rejected(where, "not-a-message", f"a {type(message).__name__}")


def _message(chat: Chat, message: Object) -> Iterator[Element]:
    role = first_word(message.get("author"), obj(message.get("author")).get("role"), message.get("type")) or ""
    thoughts = [_headline(thought) for thought in objects(message.get("thoughts"))]
    event = CapturedEvent(
        id="",
        type="message",
        role=role,
        text=_content(message.get("content")),
        times=times(message.get("createTime"), message.get("timestamp")),
        message_id=identifier(message.get("id")),
        model=word(message.get("model")),
        raw_type=word(message.get("type")) or "message",
        attachments=attachments(message.get("attachments")),
    )
    if any(thoughts):
        reasoning = CapturedEvent(
            id="", type="status", role="gemini", text="\n\n".join(filter(None, thoughts)), times=event.times,
            message_id=event.message_id, model=event.model, raw_type="thoughts",
        )  # fmt: skip
        yield chat.heard(chat.reasoning(reasoning))
    if role.lower() in _NOTICES:
        event.labels, event.type, event.role = [role.lower()], "status", "system"
    yield chat.heard(chat.message(event))


def _content(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = [content]
    return "\n\n".join(
        words for part in array(content) if (words := part if isinstance(part, str) else text(obj(part).get("text")))
    )


def _headline(thought: Object) -> str:
    head = first_word(thought.get("headline"), thought.get("subject"))
    return "\n".join(words for words in (head, word(thought.get("description"))) if words)


def _workspace(record: Record, options: ReadOptions) -> Iterator[Element]:
    value = record.value
    turns = value.get("conversation_turns")
    if not isinstance(turns, list):
        yield Rejected(record.where, "not-a-conversation", "no list of turns is there")
        return
    if not turns:
        yield Skipped("empty", "conversation without messages")
        return
    made = raw_time(value.get("creation_time"))
    identity = (str(made),) if made is not None else (word(value.get("title")), _first_prompt(turns))
    chat = Chat(
        PROVIDER,
        event_id(PROVIDER, "workspace", *identity),
        options,
        title=value.get("title"),
        nearby=times(made, value.get("last_modification_time")),
    )
    for place, turn in enumerate(turns):
        user, system = obj(turn).get("user_turn"), obj(turn).get("system_turn")
        if isinstance(user, dict):
            yield _user_turn(chat, user)
        elif isinstance(system, dict):
            yield from _system_turn(chat, system)
        else:
            yield Rejected(f"{record.where}: turn {place + 1}", "not-a-turn", "neither user_turn nor system_turn")


def _first_prompt(turns: list[object]) -> str:
    return next((text(obj(obj(turn).get("user_turn")).get("prompt")) for turn in turns), "")


def _user_turn(chat: Chat, turn: Object) -> Element:
    event = _turn(turn, "user_turn", text(turn.get("prompt")))
    event.attachments = attachments(turn.get("attachments")) + attachments(turn.get("files"))
    if turn.get("turn_deleted_time") is not None:
        return chat.heard(chat.hidden(event, "deleted turn"))
    return chat.heard(_finish(chat, event, turn))


def _system_turn(chat: Chat, turn: Object) -> Iterator[Element]:
    thoughts = [words for thought in objects(turn.get("model_thoughts")) if (words := _headline(thought))]
    deleted = turn.get("turn_deleted_time") is not None
    if thoughts and not deleted:
        reasoning = _turn(turn, "system_turn", "\n\n".join(thoughts))
        yield chat.heard(chat.reasoning(reasoning, _index(turn), "thoughts", content_digest(reasoning.text)))
    event = _turn(turn, "system_turn", "\n\n".join(_said(turn)))
    event.attachments = attachments(turn.get("images"), "image")
    yield chat.heard(chat.hidden(event, "deleted turn") if deleted else _finish(chat, event, turn))


def _said(turn: Object) -> Iterator[str]:
    for part in objects(turn.get("text")):
        cards = [card.get("content") for card in objects(part.get("cards"))]
        yield from (words for words in (word(part.get("preamble")), word(part.get("data")), *map(word, cards)) if words)


def _finish(chat: Chat, event: CapturedEvent, turn: Object) -> CapturedEvent | Skipped:
    return chat.message(event, _index(turn), event.role, *map(str, event.times[:1]), content_digest(event.text))


def _index(turn: Object) -> str | None:
    return identifier(turn.get("turn_index"))


def _turn(turn: Object, role: str, words: str) -> CapturedEvent:
    return CapturedEvent(
        id="", type="message", role=role, text=words, times=times(turn.get("turn_last_modified")), raw_type=role
    )
