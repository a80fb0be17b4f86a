"""What a live source remembers between runs, in bounded parts of its checkpoints.

Each part is JSON of a version, written in the transaction of the capture that changed it. A part that cannot be used is
named and left out.
"""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Final, TypeVar

import msgspec
from msgspec import Struct

from adapters.contract import Warned

VERSION: Final = 1

S = TypeVar("S", bound=Struct)

encode: Final = msgspec.json.Encoder().encode


class Names(Struct):
    """Pairs, those used last at the end."""

    pairs: list[tuple[str, str | int]]
    version: int = VERSION


class Recent:
    """Names for keys, a bounded number of them; knows whether it has changed since it was last written."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._pairs: OrderedDict[str, str | int] = OrderedDict()
        self.changed = False

    def get(self, key: str) -> str | int | None:
        """Give what is remembered of a key."""
        return self._pairs.get(key)

    def put(self, key: str, value: str | int) -> None:
        """Remember, and forget the oldest when there are too many."""
        if self._pairs.get(key) == value:
            return
        self._pairs[key] = value
        self._pairs.move_to_end(key)
        self.changed = True
        if len(self._pairs) > self._most:
            self._pairs.popitem(last=False)

    def keys(self) -> list[str]:
        """Give all keys, those used last at the end."""
        return list(self._pairs)

    def remove(self, key: str) -> None:
        """Forget a key."""
        if self._pairs.pop(key, None) is not None:
            self.changed = True

    def load(self, names: Names | None) -> None:
        """Take up what was written."""
        for key, value in names.pairs if names else ():
            self.put(key, value)
        self.changed = False

    def encoded(self) -> bytes:
        """Write it for the checkpoint store."""
        return encode(Names(list(self._pairs.items())))


class Parts:
    """The parts of the checkpoints of a source named `source`; `warnings` say what was no use."""

    def __init__(self, checkpoints: Mapping[str, bytes], source: str) -> None:
        self.warnings: list[Warned] = []
        self._checkpoints = checkpoints
        self._source = source

    def read(self, part: str, shape: type[S]) -> S | None:
        """Decode a part; None when there is none that can be used."""
        if part not in self._checkpoints:
            return None
        try:
            found = msgspec.json.decode(self._checkpoints[part], type=shape)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            self.warn(f"what was remembered as {part} is damaged and not used: {error}")
            return None
        if getattr(found, "version", None) != VERSION:
            self.warn(f"what was remembered as {part} is of another version of this program and not used")
            return None
        return found

    def warn(self, message: str) -> None:
        """Note something that a person should know."""
        self.warnings.append(Warned(self._source, message))


def load_all(recents: Mapping[str, Recent], parts: Parts) -> None:
    """Take up what was written of each, by the name of its part."""
    for part, recent in recents.items():
        recent.load(parts.read(part, Names))


def changed_parts(recents: Mapping[str, Recent]) -> dict[str, bytes]:
    """Write those that have changed since they were last written, by the names of their parts."""
    written: dict[str, bytes] = {}
    for part, recent in recents.items():
        if recent.changed:
            written[part] = recent.encoded()
            recent.changed = False
    return written
