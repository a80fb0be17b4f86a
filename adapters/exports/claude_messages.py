"""What each message of a Claude conversation is: its words as one message, its reasoning and tool blocks beside it.

Source: section 2.2 of the export formats; cases 17, 33, 35, 37, 43, 45.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from adapters.contract import Skipped
from adapters.exports.citations import citations
from adapters.exports.claude_media import block_media, uploads
from adapters.exports.claude_shapes import Block, Blocks, Message, blocks_of
from adapters.exports.claude_tools import Calls
from adapters.exports.fields import MAX_ID_CHARS, objects, times, word
from adapters.exports.media import placeholder
from adapters.exports.tree import INFERRED, Item
from adapters.exports.unknown import Unknown
from schemas.captured import CapturedEvent, RawTime
from schemas.ids import Part, event_id

if TYPE_CHECKING:
    from schemas.event import Attachment

PROVIDER: Final = "claude"

_SENDERS: Final = frozenset({"human", "assistant"})
_NOTICE: Final = re.compile(r"(?:```\s*)?This block is not supported on your current device yet\.(?:\s*```)?")
"""What the flattened text says where a block stood."""

_MACHINERY: Final = {"token_budget": "token budget", "redacted_thinking": "redacted reasoning"}


class Messages:
    """Gives what the messages of one conversation hold; `unknown` counts what nobody described yet."""

    def __init__(self, thread_id: str, model: str | None, unknown: Unknown, *, include_hidden: bool) -> None:
        self._thread_id = thread_id
        self._model = model
        self._unknown = unknown
        self._include_hidden = include_hidden
        self._used: set[tuple[Part, ...]] = set()

    def items(self, message: Message, identity: str) -> Sequence[Item]:
        """Give the events of a message in the order of its blocks, its words last; or why there are none."""
        if usual := self._usual(message, identity):
            return (usual,)
        if not isinstance(message.sender, str) or message.sender not in _SENDERS:
            self._unknown.note("sender", message.sender)
        return _Reading(self, message, identity).items()

    def _usual(self, message: Message, identity: str) -> CapturedEvent | None:
        """Make the event of one text and nothing else, which nearly all messages are, at a third of the cost."""
        content, sender = message.content, message.sender
        if (
            type(content) is list
            and len(content) == 1
            and type(block := content[0]) is Block
            and block.type == "text"
            and type(text := block.text) is str
            and not block.citations
            and not message.attachments
            and not message.files
            and not message.files_v2
            and type(message.created_at) is str
            and (sender == "human" or sender == "assistant")  # noqa: PLR1714 - `in` would hash any JSON value
            and text
            and not text.isspace()
            and message.created_at
        ):
            return CapturedEvent(
                id=self.unique(identity, ()),
                type="message",
                role=sender,
                text=text,
                times=[message.created_at],
                message_id=identity,
                raw_type="text",
                model=self.model_of(message) if sender == "assistant" else None,
            )
        return None

    def model_of(self, message: Message) -> str | None:
        """Give the model that answered: only exports of claude.ai's own form name it."""
        return word(message.model) or self._model

    def unique(self, identity: str, part: tuple[Part, ...]) -> str:
        """Make the id of an event of a message; a message whose id came before is told by its place among those."""
        parts: tuple[Part, ...] = (identity, *part)
        count = 1
        while parts in self._used:
            count += 1
            parts = (identity, *part, "again", count)
        self._used.add(parts)
        return event_id(PROVIDER, self._thread_id, *parts)

    def hidden(self, what: str, text: str, raw_type: str) -> Item:
        """Give a block that nobody wrote: an event only where hidden context is asked for."""
        if not self._include_hidden or not text:
            return Skipped("hidden", what)
        return CapturedEvent(id="", type="status", role="system", text=text, labels=["hidden"], raw_type=raw_type)

    def unknown_block(self, kind: object) -> Item:
        """Count a block of a type that nobody described."""
        self._unknown.note("block", kind)
        return Skipped("empty", "unknown block")


class _Reading:
    """Takes one message apart."""

    def __init__(self, messages: Messages, message: Message, identity: str) -> None:
        self.messages = messages
        self.message = message
        self.identity = identity
        self.sender = message.sender if isinstance(message.sender, str) else ""
        self.calls = Calls(identity)
        self.found: list[Item] = []
        self.words: list[str] = []
        self.media: list[Attachment] = []
        self.cited: list[object] = []
        self.usable = False
        """Whether a block said something, so that the flattened copy is not asked."""
        self.numbers: Counter[str] = Counter()
        self.start: RawTime | None = None
        self.kinds = {
            "text": self._text,
            "voice_note": self._text,
            "thinking": self._thought,
            "tool_use": self._call,
            "tool_result": self._result,
            "image": self._image,
            "document": self._image,
            "injected_prompt_block": self._injected,
        }

    def items(self) -> list[Item]:
        blocks = blocks_of(self.message)
        for block in blocks:
            self._block(block)
        self._say(blocks)
        return self.found or [Skipped("empty", "message without words")]

    def _block(self, block: object) -> None:
        if isinstance(block, str):
            block = Block(type="text", text=block)
        if not isinstance(block, Block):
            self.found.append(self.messages.unknown_block(type(block).__name__))
            return
        if self.start is None:
            self.start = next(iter(times(block.start_timestamp)), None)
        kind = block.type if isinstance(block.type, str) else ""
        if kind in _MACHINERY:
            self.found.append(Skipped("hidden", _MACHINERY[kind]))
        elif kind in self.kinds:
            self.kinds[kind](block)
        else:
            self.found.append(self.messages.unknown_block(block.type))

    def _text(self, block: Block) -> None:
        if text := word(block.text):
            self.usable = True
            self.words.append(text)
        if block.citations:
            self.cited.append(block.citations)

    def _thought(self, block: Block) -> None:
        self.usable = True
        told = word(block.thinking) or "\n\n".join(
            text for summary in objects(block.summaries) if (text := word(summary.get("summary")))
        )
        if told:
            event = CapturedEvent(
                id="", type="status", role="assistant", text=told, labels=["reasoning"], raw_type="thinking"
            )
            self._add(block, event, "thinking")
        else:
            self.found.append(Skipped("empty", "reasoning without words"))

    def _call(self, block: Block) -> None:
        self._add(block, self.calls.called(block), "tool_use")

    def _result(self, block: Block) -> None:
        self._add(block, self.calls.answered(block) or Skipped("empty", "failure without words"), "tool_result")

    def _image(self, block: Block) -> None:
        self.usable = True
        self.media.append(block_media(block))

    def _injected(self, block: Block) -> None:
        kind = "injected_prompt_block"
        self._add(block, self.messages.hidden("injected prompt", word(block.prompt) or "", kind), kind)

    def _add(self, block: Block, event: Item, kind: str) -> None:
        """Place what one block gives: its event is told apart by the number among its kind.

        From now on the flattened copy is not asked: it repeats what such blocks hold.
        """
        self.usable = True
        if not isinstance(event, CapturedEvent):
            self.found.append(event)
            return
        self.numbers[kind] += 1
        event.id = self.messages.unique(self.identity, (kind, self.numbers[kind]))
        event.message_id = self.identity
        event.times = times(block.start_timestamp, self.message.created_at)
        if event.role == "assistant":
            event.model = self.messages.model_of(self.message)
        self.found.append(event)

    def _say(self, blocks: Blocks) -> None:
        """Add the message itself, if anything was said or came with it."""
        if not self.usable and (text := word(self.message.text)):
            text = _NOTICE.sub("", text) if "not supported on your current device" in text else text
            self.words += [text.strip()] if text.strip() else []
        media, texts = uploads(self.message)
        media = [*self.media, *media]
        text = "\n\n".join([*self.words, *texts])
        if not text and not media:
            return
        created = times(self.message.created_at)
        nearest = times(self.start, self.message.updated_at)[:1]
        self.found.append(
            CapturedEvent(
                id=self.messages.unique(self.identity, ()),
                type="message",
                role=self.sender,
                text=text or placeholder(media),
                times=created or nearest,
                labels=[INFERRED] if nearest and not created else [],
                message_id=self.identity,
                raw_type=_raw_type(blocks),
                model=self.messages.model_of(self.message) if self.sender == "assistant" else None,
                attachments=media,
                citations=citations(*self.cited),
            )
        )


def _raw_type(blocks: Blocks) -> str:
    kinds = [block.type for block in blocks if isinstance(block, Block) and isinstance(block.type, str)]
    return "text" if not kinds or "text" in kinds else kinds[-1][:MAX_ID_CHARS] or "text"
