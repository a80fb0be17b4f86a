"""A board's JSON file that is changed in one entry, and otherwise stays as it was but for its white space.

A file is an object with a list (`{"tasks": [...]}`), or that list alone. Its members and entries are kept as the tokens
they came as: numbers, escapes and members that nobody here knows are not read and written anew. It is written as the
origin writes it: JSON with two blanks of indent and a newline. Source: formats/session-triage-origin.md 1.7.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec

from triage.board.documents import same
from triage.board.read import MAX_BOARD_BYTES

_BOM: Final = b"\xef\xbb\xbf"
_OBJECT: Final = b"{"


class BoardFileError(Exception):
    """A file of the board cannot be read, or not be changed without loss; the message says which and why."""


@dataclass(slots=True)
class JsonFile:
    """The content of a board's file: its entries as raw JSON, and what stands around them."""

    path: Path
    name: str
    entries: list[msgspec.Raw] = field(default_factory=list)
    around: dict[str, msgspec.Raw] | None = field(default_factory=dict)

    def documents(self) -> Iterator[Mapping[str, Any]]:
        """Give the entries that are objects, in order; any other entry is kept but never looked at."""
        yield from (document for _, document in self._numbered())

    def add(self, document: Mapping[str, Any]) -> None:
        """Put an entry at the end."""
        self.entries.append(msgspec.Raw(msgspec.json.encode(document)))

    def replace(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        """Put one document in the place of another; members that do not differ keep their place and their tokens."""
        number = next(n for n, document in self._numbered() if same(document, before))
        members = msgspec.json.decode(self.entries[number], type=dict[str, msgspec.Raw])
        changed = {name: value for name, value in after.items() if name not in before or not same(before[name], value)}
        kept = {name: raw for name, raw in members.items() if name in after}
        encoded = {name: msgspec.Raw(msgspec.json.encode(value)) for name, value in changed.items()}
        self.entries[number] = msgspec.Raw(msgspec.json.encode(kept | encoded))

    def lines(self, documents: list[Mapping[str, Any]]) -> bytes:
        """Give entries as JSON Lines, with the tokens that they came as."""
        chosen = [n for n, document in self._numbered() if any(same(document, each) for each in documents)]
        return b"".join(msgspec.json.format(bytes(self.entries[n]), indent=-1) + b"\n" for n in chosen)

    def remove(self, documents: list[Mapping[str, Any]]) -> None:
        """Take entries out."""
        gone = {n for n, document in self._numbered() if any(same(document, each) for each in documents)}
        self.entries = [raw for number, raw in enumerate(self.entries) if number not in gone]

    def content(self) -> bytes:
        """Give the bytes to write."""
        listed = msgspec.json.encode(self.entries)
        whole = listed if self.around is None else msgspec.json.encode(self.around | {self.name: msgspec.Raw(listed)})
        return msgspec.json.format(whole, indent=2) + b"\n"

    def _numbered(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        for number, raw in enumerate(self.entries):
            value = msgspec.json.decode(raw)
            if isinstance(value, dict):
                yield number, value


def parse(path: Path, name: str, raw: bytes) -> JsonFile:
    """Read a file's bytes; `name` is the member that holds the list. Raises `BoardFileError`."""
    if len(raw) > MAX_BOARD_BYTES:
        raise BoardFileError(f"{path}: more than {MAX_BOARD_BYTES} bytes are no board")
    raw = raw.removeprefix(_BOM)
    try:
        msgspec.json.decode(raw)  # raw members are not looked into: what is broken inside them shows here
        if not raw.lstrip().startswith(_OBJECT):
            return JsonFile(path, name, msgspec.json.decode(raw, type=list[msgspec.Raw]), None)
        around = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
        entries = msgspec.json.decode(around[name], type=list[msgspec.Raw]) if name in around else []
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BoardFileError(f"{path}: {error}; mend it first, nothing is written over it") from error
    return JsonFile(path, name, entries, around)
