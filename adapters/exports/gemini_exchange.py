"""One exchange with Gemini as its activity tells it, and the events it becomes: the one home for JSON and HTML.

Ids stand on the record's own time and title, never on a group of records, so that they stay when the file grows.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from adapters.contract import Element, ReadOptions, Skipped
from adapters.exports.chat import Chat
from schemas.captured import CapturedEvent, RawTime
from schemas.event import Attachment, Citation
from schemas.ids import content_digest, event_id

PROVIDER: Final = "gemini"

WITHOUT_GEMINI: Final = (
    "activity of another Google product, no chats with Gemini: "
    "in Takeout choose My Activity, there Gemini Apps, and JSON as the format"
)


@dataclass(slots=True)
class Exchange:
    """A prompt and its answer.

    `stamp` is the time as the record writes it, whatever zone it is taken for. `files` is how many files the record
    says came along, named or not.
    """

    title: str
    stamp: str | None
    times: list[RawTime]
    prompts: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    html_answers: list[str] = field(default_factory=list)
    verb: str = ""
    chat: str | None = None
    attachments: list[Attachment] = field(default_factory=list)
    citations: list[Citation] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    files: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether nobody said anything."""
        return not (self.prompts or self.answers or self.html_answers)

    def attach(self, item: Attachment) -> None:
        """Add an attachment that is not there yet."""
        if all(item.name not in (known.name, known.url) for known in self.attachments):
            self.attachments.append(item)

    def identity(self) -> tuple[str | bytes | None, ...]:
        """Time and title; without a time the whole content."""
        if self.stamp:
            return self.stamp, content_digest(self.title)
        return None, content_digest(self.title, *self.prompts, *self.answers, *self.html_answers)


def exchange_elements(exchange: Exchange, options: ReadOptions) -> Iterator[Element]:
    """Yield the events of an exchange: the prompt, then the answer at the same time."""
    if exchange.is_empty:
        yield Skipped("empty", f"activity: {exchange.verb or 'prompt without words'}")
        return
    identity = exchange.identity()
    thread_id = exchange.chat or event_id(PROVIDER, "activity-thread", *identity)
    chat = Chat(PROVIDER, thread_id, options, scope=(PROVIDER, "activity", *identity))
    for place, words in enumerate(exchange.prompts):
        yield chat.heard(_prompt(chat, exchange, words, place))
    for place, words in enumerate(exchange.answers):
        yield chat.heard(_answer(chat, exchange, words, f"answer:{place}", html=False))
    if exchange.html_answers:
        # Several are drafts, or parts of one: it is not known which, so all are kept in order.
        yield chat.heard(_answer(chat, exchange, "<p></p>".join(exchange.html_answers), "answer", html=True))


def _prompt(chat: Chat, exchange: Exchange, words: str, place: int) -> CapturedEvent | Skipped:
    event = CapturedEvent(
        id="",
        type="message",
        role="user",
        text=words,
        times=exchange.times,
        labels=list(exchange.labels),
        raw_type=f"activity/{exchange.verb or 'other'}",
        attachments=_all_attachments(exchange) if place == 0 else [],
    )
    return chat.message(event, f"prompt:{place}")


def _answer(chat: Chat, exchange: Exchange, words: str, part: str, *, html: bool) -> CapturedEvent | Skipped:
    drafts = len(exchange.html_answers) if html else 1
    event = CapturedEvent(
        id="",
        type="message",
        role="model",
        text=words,
        html=html,
        times=exchange.times,
        labels=[*exchange.labels, *([f"drafts:{drafts}"] if drafts > 1 else [])],
        raw_type="activity/answer",
        citations=list(exchange.citations),
    )
    return chat.message(event, part)


def _all_attachments(exchange: Exchange) -> list[Attachment]:
    unnamed = max(0, exchange.files - len(exchange.attachments))
    return [*exchange.attachments, *(Attachment(kind="file") for _ in range(min(unnamed, 100)))]
