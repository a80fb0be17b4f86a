"""Recognising PAM files by the constant in their member `schema`, never by their names.

Source: sections 0 and 6.1 of the PAM page. Other formats call themselves PAM, too; they lack the constant.
"""

import io
from typing import Final

import msgspec

from adapters.files.json_values import Window, members

_BOM: Final = b"\xef\xbb\xbf"
_PREFIX: Final = "portable-ai-memory"
_MAX_CONSTANT_BYTES: Final = 1024
"""Longer ones are no constant of PAM."""

# A file with sorted keys has its messages before `schema`, beyond what a reader may look at.
_BEFORE_MESSAGES: Final = frozenset({"id", "import_metadata", "is_archived", "messages"})
_OF_MESSAGES: Final = frozenset({"id", "role", "created_at"})
_MARKS: Final = (b'"children_ids"', b'"parent_id"', b'"provider_message_id"', b'"is_thought"', b'"import_metadata"')


def schema_of(start: bytes) -> str | None:
    """Give the PAM constant of the first object in a file's head, or None when it is no PAM file; never raises."""
    window = Window(io.BytesIO(start), len(_BOM) if start.startswith(_BOM) else 0)
    place, first = window.skip(window.base)
    if first == b"[":
        place, first = window.skip(place + 1)
    if first != b"{":
        return None
    try:
        return _constant(window, place, start)
    except ValueError:  # a key that is no text, such as one with a lone surrogate
        return None


def _constant(window: Window, place: int, start: bytes) -> str | None:
    names: list[str] = []
    last = place
    for name, at in members(window, place):
        names.append(name)
        last = at
        if name == "schema":
            value = window.value(at, _MAX_CONSTANT_BYTES)
            found = msgspec.json.decode(value) if isinstance(value, bytes) else None
            return found if isinstance(found, str) and found.startswith(_PREFIX) else None
    if names == sorted(names) and names:
        return _by_members(names, last, start)
    return None


def _by_members(names: list[str], last: int, start: bytes) -> str | None:
    if names[-1] == "conversations_index":
        return _PREFIX
    if names[-1] != "messages" or not set(names) <= _BEFORE_MESSAGES:
        return None
    window = Window(io.BytesIO(start), last)
    place, first = window.skip(last)
    at, first = window.skip(place + 1)
    known = {name for name, _ in members(window, at)} if first == b"{" else set()
    fits = known >= _OF_MESSAGES and any(mark in start for mark in _MARKS)
    return f"{_PREFIX}-conversation" if fits else None
