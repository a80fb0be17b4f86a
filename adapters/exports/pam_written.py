"""PAM conversations that this program wrote: the events they were made of, in the order of the file."""

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from adapters.contract import Element, Heard, ReadOptions, Warned
from adapters.exports.fields import obj
from adapters.exports.pam_conversation import Document
from adapters.exports.pam_own import CHANNEL, PROVIDER, TITLE, WORKSPACE, Own, restore, told_of
from adapters.exports.pam_shapes import messages
from adapters.files.json_line import BadLine
from adapters.files.json_stream import Slice
from schemas.captured import CapturedEvent, Thread
from schemas.ids import event_id

_ID: Final = re.compile(r"[^\x00-\x20]{1,200}")
_MAX_THREADS: Final = 1000
"""Threads that differ in title, kept to share them between events: a cache, not a memory."""


def elements(document: Document, options: ReadOptions) -> Iterator[Element]:
    """Yield the event of each message; a message that is none costs itself alone."""
    threads = Threads(document, options)
    own = Own(archived=document.header.is_archived is True)
    for piece in document.pieces():
        if not isinstance(piece, Slice):
            yield piece
            continue
        try:
            message = messages.decode(piece.raw)
        except BadLine as error:
            yield document.bad_message(piece, error)
            continue
        told = told_of(message.raw_metadata)
        event = own.plain(message)
        try:
            event = restore(event, told)
        except msgspec.ValidationError as error:
            yield Warned(document.where(piece.start), f"what PAM's members do not hold is unusable: {error}")
        own.note(event)
        if not _ID.fullmatch(event.id):
            event.id = _identity(document, event)
        yield Heard(threads.thread(told), event)


class Threads:
    """The thread of each message: the conversation's, unless the message tells another title or place."""

    def __init__(self, document: Document, options: ReadOptions) -> None:
        header, told = document.header, told_of(document.header.raw_metadata)
        provider = obj(header.provider)
        self._base: dict[str, str | None] = {
            TITLE: _text(header.title),
            WORKSPACE: _text(told.get(WORKSPACE)),
            CHANNEL: _text(told.get(CHANNEL)),
        }
        self._provider = _text(told.get(PROVIDER)) or document.provider
        self._thread_id = _text(provider.get("conversation_id")) or document.thread_id
        self._account = _text(provider.get("account_id")) or options.account
        self._known: dict[tuple[str | None, ...], Thread] = {}

    def thread(self, told: dict[str, Any]) -> Thread:
        """Give the thread of a message; equal ones are one object."""
        title, workspace, channel = (_text(told[name]) if name in told else base for name, base in self._base.items())
        key = (title, workspace, channel)
        if key not in self._known:
            if len(self._known) >= _MAX_THREADS:
                self._known.clear()
            self._known[key] = Thread(
                provider=self._provider,
                thread_id=self._thread_id,
                account=self._account,
                title=title,
                workspace=workspace,
                channel_id=channel,
            )
        return self._known[key]


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _identity(document: Document, event: CapturedEvent) -> str:
    """Make an id for a message whose own is none, over what it says."""
    time = str(event.times[0]) if event.times else None
    return event_id("pam", document.provider, document.thread_id, event.message_id, time, event.role, event.text)
