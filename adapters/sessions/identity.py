"""Event ids by content: what keeps equal things apart and repeated lines together, within one file."""

import hashlib

from adapters.files.json_line import BadLine, compact_json, decode_line
from schemas import ids
from schemas.ids import Part


class Identities:
    """Gives event ids, and tells a repeated line from an equal one, within one file.

    Equal content under an entry id that had it before is the same thing written again; under another entry id, or
    without one (version 1), it is said once more and gets the next occurrence number. Keeps one dict slot an event:
    about 80 bytes; the entry id is shared with the tree.
    """

    def __init__(self, provider: str) -> None:
        self._provider = provider
        # By 64 bits of the id, which are enough within a file. The first entry id; from the second on, all of them.
        self._seen: dict[int, str | dict[str | int, None] | None] = {}

    def event_id(self, entry_id: str | None, identity: tuple[Part, ...]) -> str | None:
        """Give the id of an event that `identity` describes; None when this entry gave it before."""
        first = ids.event_id(self._provider, *identity)
        key = hash(first)
        if key not in self._seen:
            self._seen[key] = entry_id
            return first
        occurrence = self._next(key, entry_id)
        return None if occurrence is None else ids.event_id(self._provider, first, occurrence)

    def _next(self, key: int, entry_id: str | None) -> int | None:
        known = self._seen[key]
        if not isinstance(known, dict):
            known = self._seen[key] = {0 if known is None else known: None}
        number = len(known)
        bearer = number if entry_id is None else entry_id
        if bearer in known:
            return None
        known[bearer] = None
        return number


def content_thread(provider: str, raw: bytes, remade: frozenset[str]) -> str:
    """Make a thread id of a file's first readable line, for a file that has no id in it or in its name.

    `remade` are the members that a rewrite or a copy makes anew; without them, and whatever the order of keys and the
    spaces, a copy elsewhere is the same thread.
    """
    try:
        value = decode_line(raw)
        if isinstance(value, dict):
            value = {key: part for key, part in value.items() if key not in remade}
        content = compact_json(value).encode()
    except (BadLine, RecursionError):  # too deep in members that are never read: its bytes have to do
        content = raw
    return ids.event_id(provider, "thread", hashlib.sha256(content).digest())
