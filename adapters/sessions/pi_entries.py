"""Entries of a pi session by type, of all versions.

Source: sections 2.3, 2.7 and the rule of 2.9 of the format page; B25, B27, E6, E29, E31.
"""

from collections.abc import Callable, Mapping
from typing import Final

from adapters.sessions.pi_messages import read_custom, read_message, read_summary
from adapters.sessions.pi_reading import Reading
from adapters.sessions.pi_shapes import Entry, Message
from schemas.captured import CapturedEvent

UNKNOWN_TYPE: Final = "unknown entry type"

# Of pi, pi index, Oh My Pi and Prime Agent: kept for the agent's own use, nobody said anything.
_BOOKKEEPING: Final = frozenset(
    {
        "active_tools_change",
        "child_usage_attributed",
        "context_edit",
        "credential_pin",
        "custom",
        "label",
        "leaf",
        "mode_change",
        "reset_boundary",
        "session_init",
        "thinking_level_change",
        "title_change",
        "ttsr_injection",
        "usage",
    }
)


def read_entry(entry: Entry) -> Reading:
    """Read one entry; an unknown type gives nothing and is counted, never an error."""
    if entry.kind is not None and entry.kind in _KIND_LINES:  # version 4
        return _fact(entry) if entry.kind == "fact" else Reading(str(entry.kind))
    kind = entry.type
    if not isinstance(kind, str):
        if isinstance(entry.kind, str) and entry.kind not in _TYPED_KINDS:  # of a version to come
            return Reading(UNKNOWN_TYPE)
        return Reading("line without a type", fault="neither an entry nor a header: no type")
    reader = _READERS.get(kind)
    if reader is not None:
        return reader(entry)
    return Reading(kind if kind in _BOOKKEEPING else UNKNOWN_TYPE)


def _message(entry: Entry) -> Reading:
    if not isinstance(entry.message, Message):
        return Reading("message", fault="a message entry whose message is no object")
    return read_message(entry.message)


def _custom_message(entry: Entry) -> Reading:
    return read_custom(entry.custom_type, entry.content, entry.display)


def _compaction(entry: Entry) -> Reading:
    return read_summary("compaction", entry.summary)


def _branch_summary(entry: Entry) -> Reading:
    return read_summary("branch-summary", entry.summary)


def _model_change(entry: Entry) -> Reading:
    names = [part for part in (entry.provider, entry.model_id) if isinstance(part, str) and part]
    text = "/".join(names)
    return _status("model_change", "model-change", f"model {text}" if text else "")


def _session_info(entry: Entry) -> Reading:
    given = entry.name if isinstance(entry.name, str) else ""
    return _status("session_info", "session-name", f"session name: {given}" if given.strip() else "")


def _fact(entry: Entry) -> Reading:
    """Read a fact of version 4: a session's name, or a label, which says nothing."""
    return _session_info(entry) if isinstance(entry.name, str) else Reading("label")


def _status(what: str, label: str, text: str) -> Reading:
    if not text:
        return Reading(what)
    event = CapturedEvent(id="", type="status", role="system", text=text, labels=[label], raw_type=what)
    return Reading(what, [(event, (what, None, text))])


# A tuple, because a file may hold what cannot be hashed.
_KIND_LINES: Final = ("record", "lane", "fact")
_TYPED_KINDS: Final = ("entry", "header")

_READERS: Final[Mapping[str, Callable[[Entry], Reading]]] = {
    "message": _message,
    "custom_message": _custom_message,
    "compaction": _compaction,
    "branch_summary": _branch_summary,
    "model_change": _model_change,
    "session_info": _session_info,
}
