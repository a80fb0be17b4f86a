"""PAM conversations that others wrote: a tree of messages, each of which may give several events."""

from collections.abc import Iterator, Sequence

from adapters.contract import Element, Heard, ReadOptions, Skipped, Warned
from adapters.exports import pam_shapes
from adapters.exports.chat import Chat
from adapters.exports.fields import times
from adapters.exports.local_time import Clock
from adapters.exports.pam_conversation import Document
from adapters.exports.pam_links import Links
from adapters.exports.pam_messages import Messages
from adapters.exports.tree import Item, weave
from adapters.files.json_line import BadLine
from adapters.files.json_stream import Slice
from schemas.captured import CapturedEvent


def elements(document: Document, options: ReadOptions) -> Iterator[Element]:
    """Yield the live line of a conversation, then its branches; raises `PermanentSourceError` for a zone unknown."""
    links, rejected = Links(), 0
    for piece in document.pieces():
        if not isinstance(piece, Slice):
            rejected += 1
            yield piece
            continue
        try:
            links.add(pam_shapes.links.decode(piece.raw), (piece.start, len(piece.raw)))
        except BadLine as error:
            rejected += 1
            yield document.bad_message(piece, error)
    if not links.places and not rejected:
        yield Skipped("empty", "conversation without messages")
    yield from _Conversation(document, links, options).elements()


class _Conversation:
    def __init__(self, document: Document, links: Links, options: ReadOptions) -> None:
        header = document.header
        scope = ("pam", document.provider, document.account, document.thread_id)
        self._document = document
        self._links = links
        self._chat = Chat(
            document.provider,
            document.thread_id,
            options,
            title=header.title,
            scope=scope,
            nearby=times(document.created_at),
        )
        self._chat.thread.account = document.account or options.account
        self._messages = Messages(self._chat, header, Clock(options.timezone))
        self._dangling: dict[str, str] = {}

    def elements(self) -> Iterator[Element]:
        yield from map(self._chat.heard, self._messages.instruction(self._document.header))
        tree = self._links.tree()
        yield from self._warnings()
        for element in weave(tree, self._items, self._chat.thread, self._chat.nearby):
            if isinstance(element, Heard) and element.event.parent_message_id is None:
                element.event.parent_message_id = self._dangling.pop(element.event.id, None)
            yield element

    def _items(self, node: str) -> Sequence[Item]:
        start, size = self._links.places[node]
        self._document.stream.seek(start)
        items = self._messages.items(pam_shapes.messages.decode(self._document.stream.read(size)))
        if named := self._links.dangling.get(node):
            self._dangling.update({item.id: named for item in items if isinstance(item, CapturedEvent)})
        return items

    def _warnings(self) -> Iterator[Warned]:
        links = self._links
        for count, what in (
            (links.repeated, "messages with an id that an earlier one has; both are kept"),
            (len(links.dangling), "messages whose parent is not there; they begin lines of their own"),
            (links.missing_children, "listed children that are not there"),
            (links.rings, "rings of parents; each is broken at its earliest message"),
        ):
            if count:
                where = f"{self._document.path}: conversation {self._document.thread_id}"
                yield Warned(where, f"{count} {what}")
