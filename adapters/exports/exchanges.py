"""Conversations told as questions with their answers: the events of one such pair."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from adapters.contract import Element
from adapters.exports.chat import Chat
from schemas.captured import CapturedEvent, RawTime
from schemas.event import Attachment, Citation


@dataclass(slots=True)
class Pair:
    """A question, its answer, and what both share; `key` is the provider's id of the pair, if it has one."""

    key: str | None
    question: str
    answer: str
    times: list[RawTime]
    model: str | None = None
    raw_type: str = "entry"
    reasoning: str = ""
    labels: list[str] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)
    citations: list[Citation] = field(default_factory=list)


def pair_elements(chat: Chat, pair: Pair) -> Iterator[Element]:
    """Yield the question, the reasoning if any, and the answer, at one time and in this order."""
    asked = _event(pair, "user", pair.question)
    asked.attachments = pair.attachments
    yield chat.heard(chat.message(asked, "query"))
    if pair.reasoning:
        yield chat.heard(chat.reasoning(_event(pair, "assistant", pair.reasoning)))
    answered = _event(pair, "assistant", pair.answer)
    answered.citations, answered.model, answered.labels = pair.citations, pair.model, pair.labels
    yield chat.heard(chat.message(answered, "answer"))


def _event(pair: Pair, role: str, words: str) -> CapturedEvent:
    return CapturedEvent(
        id="",
        type="message",
        role=role,
        text=words,
        times=pair.times,
        message_id=f"{pair.key}:{'query' if role == 'user' else 'answer'}" if pair.key else None,
        raw_type=pair.raw_type,
    )
