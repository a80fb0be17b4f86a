"""One PAM conversation from a stream, message by message: its size is bounded by nothing but the longest message.

The members of the root are found wherever they stand; the messages are read where they lie. Conversations that this
program wrote give back their events, in their order (`pam_written`); others are arranged as a tree first, of which only
ids and places are held (`pam_foreign`).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, Final

from adapters.contract import MAX_SAMPLE_BYTES, Rejected
from adapters.exports.documents import unread
from adapters.exports.fields import identifier, obj, word
from adapters.exports.pam_own import EVENTS, told_of
from adapters.exports.pam_shapes import Header
from adapters.files.json_line import BadLine, decode_line
from adapters.files.json_stream import Slice, array_elements
from adapters.files.json_values import MAX_ELEMENT_BYTES, Window, members
from schemas.ids import event_id
from schemas.pam import CONVERSATION

NO_PROVIDER: Final = "pam"
"""The provider of a conversation that names none."""

_MAJOR: Final = "1."
_NAMES: Final = frozenset(Header.__struct_fields__)


@dataclass(slots=True)
class Document:
    """One conversation in a seekable stream: its members, and where its messages begin.

    `offset` is where the stream begins in the file at `path`, for telling places.
    """

    stream: BinaryIO
    start: int
    path: Path
    offset: int = 0
    header: Header = field(default_factory=Header)
    messages: int | None = None

    def open(self) -> Rejected | None:
        """Find the members of the root; gives why it is no conversation that can be read."""
        window = Window(self.stream, self.start)
        window.skip(self.start)
        try:
            for name, place in members(window, self.start):
                if name == "messages":
                    self.messages = place
                elif name in _NAMES:
                    setattr(self.header, name, _value(window, place))
        except ValueError:  # a key that is no text: what stands before it counts
            pass
        return self._fault()

    def _fault(self) -> Rejected | None:
        header = self.header
        version = header.schema_version
        if header.schema != CONVERSATION:
            return self.rejected("unknown-schema", f"schema is {header.schema!r:.80}, not {CONVERSATION!r}")
        if isinstance(version, str) and not version.startswith(_MAJOR):
            return self.rejected("unknown-version", f"schema_version is {version!r:.80}; 1.x is known")
        if self.messages is None or Window(self.stream, self.messages).skip(self.messages)[1] != b"[":
            return self.rejected("no-messages", "messages is no array")
        return None

    def rejected(self, reason: str, detail: str) -> Rejected:
        """Reject the whole conversation."""
        self.stream.seek(self.start)
        return Rejected(self.where(self.start), reason, detail, self.stream.read(MAX_SAMPLE_BYTES))

    def where(self, place: int) -> str:
        """Name a place in the file."""
        return f"{self.path}: byte {self.offset + place}"

    @property
    def provider(self) -> str:
        """The product the conversation was held with."""
        return word(obj(self.header.provider).get("name")) or NO_PROVIDER

    @property
    def account(self) -> str | None:
        """The account there, if the file names it."""
        return identifier(obj(self.header.provider).get("account_id"))

    @property
    def thread_id(self) -> str:
        """The provider's id, else the document's, else one over what else it says of itself."""
        header = self.header
        known = identifier(obj(header.provider).get("conversation_id")) or identifier(header.id)
        return known or event_id("pam-thread", self.provider, word(header.title), self.created_at)

    @property
    def created_at(self) -> str | None:
        """When the conversation began, as the document says it."""
        return word(obj(self.header.temporal).get("created_at"))

    @property
    def is_ours(self) -> bool:
        """Whether this program wrote it, from events of a version it knows."""
        version = told_of(self.header.raw_metadata).get(EVENTS)
        return isinstance(version, str) and version.startswith(_MAJOR)

    def pieces(self) -> Iterator[Slice | Rejected]:
        """Give the bytes of each message, or why there are none."""
        if self.messages is None:
            return
        for piece in array_elements(self.stream, self.messages):
            if isinstance(piece, Slice):
                yield piece
            else:
                yield replace(unread(piece, self.path), where=self.where(piece.start))

    def bad_message(self, piece: Slice, error: BadLine) -> Rejected:
        """Reject one message."""
        where = f"{self.where(piece.start)}: a message of conversation {self.thread_id}"
        return Rejected(where, error.reason, str(error), piece.raw[:MAX_SAMPLE_BYTES], len(piece.raw))


def _value(window: Window, place: int) -> object:
    found = window.value(place, MAX_ELEMENT_BYTES)
    try:
        return decode_line(found) if isinstance(found, bytes) else None
    except BadLine:  # as good as absent; the members that must be there are asked for afterwards
        return None
