"""Who is who at a business number of WhatsApp: user ids and phone numbers of one person, and the one key for both.

Since 2026 a person may have a user name and show no number, so that the user id is the better key; deliveries name
either or both. Whichever id is seen first stays the person's key, and ids seen beside it join it: a repeated delivery
must stand in the thread in which it stood the first time. A number that comes with another user id than before was
given to somebody else, unless WhatsApp says that the person changed it. Source: section 4.2 of the chat platform notes.
"""

import re
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec
from msgspec import Struct

from adapters.contract import Warned
from adapters.exports.fields import identifier
from schemas.ids import event_id

VERSION: Final = 1

MAX_IDS: Final = 100_000
"""Ids remembered, two a person, about 20 MB; those used longest ago are forgotten first and would begin anew."""

_PART: Final = "person:"
_USUAL: Final = re.compile(r"[A-Za-z0-9@._:=/-]{1,200}")
_encode: Final = msgspec.json.Encoder().encode


class _Person(Struct, frozen=True):
    key: str
    version: int = VERSION


def person_id(value: object) -> str | None:
    """Give the id of a person or a group as it is used here: numbers without their plus, odd ones as a digest."""
    found = identifier(value)
    if found is None:
        return None
    plain = found.removeprefix("+")
    return plain if _USUAL.fullmatch(plain) else event_id("whatsapp", "odd-id", found)


class Directory:
    """The people of one source, from its checkpoints, a part for each id; `warnings` say what was no use.

    Deliveries are read in several threads at once.
    """

    def __init__(self, checkpoints: Mapping[str, bytes], source: str) -> None:
        self.warnings: list[Warned] = []
        self._keys: OrderedDict[str, str] = OrderedDict()
        self._with_user_id: set[str] = set()
        """Keys of people who have a user id."""
        self._unsaved: dict[str, bytes | None] = {}
        self._lock = threading.Lock()
        for part, state in checkpoints.items():
            try:
                person = msgspec.json.decode(state, type=_Person)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                self.warnings.append(Warned(source, f"what was remembered as {part} is damaged and not used: {error}"))
                continue
            if part.startswith(_PART) and person.version == VERSION:
                self._put(part.removeprefix(_PART), person.key)
            else:
                self.warnings.append(Warned(source, f"what was remembered as {part} is of another version of this"))

    def key(self, user_id: object, number: object, *others: object) -> str | None:
        """Give the key of the person whom these ids mean, and remember that they do; None when none is an id."""
        return self._key([user_id, number, *others], changed=False)

    def changed(self, *names: object) -> str | None:
        """Give the key of the person whose ids these are, or were; the former stand first. See `key`."""
        return self._key(names, changed=True)

    def _key(self, names: Iterable[object], *, changed: bool) -> str | None:
        ids = list(dict.fromkeys(found for name in names if (found := person_id(name)) is not None))
        if not ids:
            return None
        with self._lock:
            key = next((self._keys[each] for each in ids if each in self._keys), ids[0])
            if not changed and key in self._with_user_id and _is_user_id(ids[0]) and ids[0] not in self._keys:
                key = ids[0]  # the number's former owner has another user id
            for each in ids:
                if each in self._keys:
                    self._keys.move_to_end(each)
                else:
                    self._remember(each, key)
        return key

    def unsaved(self) -> dict[str, bytes | None]:
        """Give the checkpoints that are not known to be in the log; they are given again until they are."""
        with self._lock:
            return dict(self._unsaved)

    def saved(self, checkpoints: Mapping[str, bytes | None]) -> None:
        """Note that these are in the log."""
        with self._lock:
            for part, state in checkpoints.items():
                if part in self._unsaved and self._unsaved[part] == state:
                    del self._unsaved[part]

    def _remember(self, name: str, key: str) -> None:
        self._put(name, key)
        self._unsaved[_PART + name] = _encode(_Person(key))
        if len(self._keys) > MAX_IDS:
            oldest, _ = self._keys.popitem(last=False)
            self._unsaved[_PART + oldest] = None

    def _put(self, name: str, key: str) -> None:
        self._keys[name] = key
        if _is_user_id(name):
            self._with_user_id.add(key)


def _is_user_id(name: str) -> bool:
    """User ids begin with a country, such as `US.1349`; everything else is a number."""
    return not name.isdecimal()
