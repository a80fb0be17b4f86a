"""What a Signal source remembers between runs: how far its journal is in the log, and who is who.

signal-cli names a person by UUID, by number, or by both; the two are brought together as soon as both were seen.
"""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from adapters.chat.identity import SELF
from adapters.chat.recent import VERSION, Parts, Recent, changed_parts, encode, load_all
from adapters.exports.fields import Object, identifier, word

MAX_PEOPLE: Final = 5000
"""Numbers and names remembered; a forgotten one is learned from the next envelope."""

MAX_EDITS: Final = 2000
"""Edits of which it is known what they changed: an edit of an edit names the one before."""

POSITION: Final = "position"
NUMBERS: Final = "numbers"
NAMES: Final = "names"
EDITS: Final = "edits"


class Position(Struct, frozen=True):
    """The last entry of which journal is in the log, and the number of its event where signal-cli numbers them."""

    journal: str
    number: int
    event: str = ""
    version: int = VERSION


class Memory:
    """All that is remembered of `account` by the source named `source`; `warnings` say what was no use."""

    def __init__(self, checkpoints: Mapping[str, bytes], account: str, source: str) -> None:
        parts = Parts(checkpoints, source)
        self.account = account
        self.warnings = parts.warnings
        self.position = parts.read(POSITION, Position) or Position("", 0)
        self.event = self.position.event
        """The number of the last event that was read, empty while none had one."""
        self._parts = {NUMBERS: Recent(MAX_PEOPLE), NAMES: Recent(MAX_PEOPLE), EDITS: Recent(MAX_EDITS)}
        load_all(self._parts, parts)

    def moved(self, journal: str, number: int) -> dict[str, bytes]:
        """Move on, and give the checkpoints that changed."""
        self.position = Position(journal, number, self.event)
        return {POSITION: encode(self.position), **changed_parts(self._parts)}

    def person(self, holder: Object, prefix: str) -> str | None:
        """Give who `prefix`, `prefix`Number and `prefix`Uuid of an object name: a UUID, else a number, or `SELF`.

        Learns which number is whose, and what the person is called.
        """
        named = identifier(holder.get(prefix))
        number, person = identifier(holder.get(f"{prefix}Number")), identifier(holder.get(f"{prefix}Uuid"))
        if named and named.startswith("+"):
            number = number or named
        else:
            person = person or named
        person = person.lower() if person else None
        if number and person:
            self._parts[NUMBERS].put(number, person)
        # A number decides: a UUID is known to be one's own only once an envelope has had both.
        if number == self.account or (number is None and person and person == self._known(self.account)):
            return SELF
        key = person or (self._known(number) or number if number else None)
        if key and (name := word(holder.get(f"{prefix}Name"))):
            self._parts[NAMES].put(key, name.strip())
        return key

    def name_group(self, group: str, name: object) -> None:
        """Remember what a group is called."""
        if found := word(name):
            self._parts[NAMES].put(group, found.strip())

    def name(self, key: str) -> str | None:
        """Give what a person or a group is called."""
        found = self._parts[NAMES].get(key)
        return found if isinstance(found, str) else None

    def edited(self, author: str, target: int, sent: int) -> int:
        """Note that an edit sent at `sent` changes the message or edit of `target`; gives when the message was sent."""
        original = self.original(author, target)
        self._parts[EDITS].put(f"{author}:{sent}", original)
        return original

    def original(self, author: str, sent: int) -> int:
        """Give when a message was first sent, whichever of its versions is named."""
        found = self._parts[EDITS].get(f"{author}:{sent}")
        return found if isinstance(found, int) else sent

    def _known(self, number: str) -> str | None:
        found = self._parts[NUMBERS].get(number)
        return found if isinstance(found, str) else None
