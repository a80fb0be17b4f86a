"""Messages of a WhatsApp text export become captured events, with ids that a longer export gives again.

The export has no ids: an event is known by its chat, its minute on the phone's clock, its author, its words, and how
many equal ones stood before it in that minute. A chat is known by the label a person gave, else by the contact in the
file's name, else by its first message. Source: section 4.1 of the chat platform notes; case 43.
"""

import re
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from adapters.chat.identity import whatsapp_line_id
from adapters.contract import Element, Heard, ReadOptions, Skipped
from adapters.exports.media import placeholder
from adapters.exports.wall_clock import WallClock
from adapters.exports.whatsapp_export_lines import clean_author, visible
from adapters.exports.whatsapp_export_marks import Said, read_body
from adapters.exports.whatsapp_export_messages import Message
from schemas.captured import CapturedEvent, Thread
from schemas.ids import event_id
from schemas.keys import account_name

PROVIDER: Final = "whatsapp"

MAX_EQUALS: Final = 200_000
"""Lines of the latest minutes that are remembered, about 25 MB; a clock that is put back repeats one hour."""

# "WhatsApp Chat with Ana", "Conversa do WhatsApp com Ana", "WhatsApp-Chat mit Ana", "WhatsApp Chat - Ana".
_NAMED: Final = re.compile(
    r".{0,30}?whatsapp.{0,30}?(?: (?:with|con|com|mit|avec|met|med|с|со|з|із|z|s|cu|ile|dengan) | [-\u2013] )(.+)",  # noqa: RUF001 - words of other languages
    re.IGNORECASE,
)
_COPY: Final = re.compile(r"(?: ?\(\d+\)| - (?:copy|kopie|cópia|copia|copie))+$", re.IGNORECASE)
_ENDINGS: Final = (".txt", ".zip")


def label_of(path: Path) -> str | None:
    """Give the contact or group that the name of a file, or of the archive or folder it is in, says."""
    for name in (path.name, path.parent.name):
        plain = name
        for ending in _ENDINGS:
            plain = plain[: -len(ending)] if plain.lower().endswith(ending) else plain
        found = _NAMED.fullmatch(_COPY.sub("", plain.strip()))
        if found and found[1].strip():
            return clean_author(found[1])
    return None


class WhatsAppChat:
    """One chat of an export, whose messages are given in the order of the file."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self._label = (options.chat or "").strip() or label_of(path)
        self._account = options.account
        self._own_name = clean_author(options.own_name or "").casefold()
        self._clock = WallClock(options.timezone)
        self._equals = _Equals()
        self._thread: Thread | None = None

    def elements(self, message: Message) -> Iterator[Element]:
        """Yield the event of one message."""
        thread = self._thread or self._begin(message)
        said = read_body(message.body)
        event = self._event(message, said)
        if event is None:
            yield Skipped("empty", "message without words")
            return
        minute = _minute(message)
        content = (message.author, visible(message.body).strip())
        number = self._equals.number(minute, hash(content))
        event.id = whatsapp_line_id(thread.thread_id, self._account, minute, *content, number)
        if message.moment is not None:
            iso, labels = self._clock.place(message.moment)
            event.times = [iso]
            event.labels = [*event.labels, *labels]
        yield Heard(thread, event)

    def _begin(self, message: Message) -> Thread:
        first = event_id(
            PROVIDER, "chat", account_name(self._account), _minute(message), message.author, visible(message.body)
        )
        self._thread = Thread(
            provider=PROVIDER, thread_id=self._label or first, account=self._account, title=self._label
        )
        return self._thread

    def _event(self, message: Message, said: Said) -> CapturedEvent | None:
        text = said.text or placeholder(said.attachments)
        if not text:
            return None
        labels = [
            name
            for name, holds in (("edit", said.edited), ("deleted", said.deleted), ("truncated", message.truncated))
            if holds
        ]
        service = message.author is None or said.service
        return CapturedEvent(
            id="",
            type="status" if service or said.deleted else "message",
            role="service" if service else self._role(message.author),
            text=text,
            labels=["service", *labels] if service else labels,
            author_id=message.author,
            raw_type="service" if service else "deleted" if said.deleted else "media" if said.attachments else "text",
            attachments=said.attachments,
        )

    def _role(self, author: str | None) -> str:
        return "self" if author is not None and author.casefold() == self._own_name else "user"


def _minute(message: Message) -> str:
    return message.moment.isoformat()[:16] if message.moment else message.header.shown


class _Equals:
    """Counts equal lines within a minute; remembers the latest minutes only."""

    def __init__(self) -> None:
        self._minutes: OrderedDict[str, dict[int, int]] = OrderedDict()
        self._size = 0

    def number(self, minute: str, line: int) -> int:
        """Give how many equal lines the minute has had, this one included."""
        lines = self._minutes.setdefault(minute, {})
        self._size += line not in lines
        lines[line] = lines.get(line, 0) + 1
        while self._size > MAX_EQUALS:
            oldest = next(iter(self._minutes))
            if oldest == minute:
                del lines[next(iter(lines))]
                self._size -= 1
            else:
                self._size -= len(self._minutes.pop(oldest))
        return lines.get(line, 1)
