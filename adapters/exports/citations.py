"""Citation markers inside answers: found by their delimiters alone, never by the words between them.

Source: section 1.4 of the export formats; case 9. `cited` and `linkedin` are words.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from schemas.event import Citation

MAX_CITATIONS: Final = 200
"""Sources kept for one message: the longest research reports cite about a hundred."""

MAX_URL_CHARS: Final = 4096
"""Longer ones are data inside a URL, not a place."""

# U+E200 kind U+E202 reference U+E202 reference U+E201. One that the end of an answer cut off has no closing delimiter,
# and its references are known by theirs; they hold no spaces.
_MARKER: Final = re.compile(
    "\ue200([^\ue200\ue201\ue202]*+)((?:\ue202[^\ue200\ue201\ue202]*+)*+)\ue201"
    "|\ue200[a-z_0-9]*+(?:\ue202[^\ue200-\ue204\\s]*+)++"
    "|[\ue200-\ue204]"
)
_LENTICULAR: Final = re.compile("【[^【】†\n]{1,60}†[^【】\n]{0,300}】")
_PRIVATE: Final = "\ue201\ue202\ue203\ue204\ue200"
_LEAD_BYTE: Final = 0xEE
"""Where U+E000 to U+EFFF begin in UTF-8."""

_ESCAPED: Final = re.compile(rb"\\u(?:[eE]20|3011)")
_BRACKET: Final = "】".encode()
_BACKSLASH: Final = ord("\\")
_NESTED: Final = ("items", "sources", "supporting_websites", "fallback_items", "entries", "details", "metadata")


def may_be_marked(raw: bytes) -> bool:
    """Whether `without_markers` may find something in the texts of a JSON value, by its bytes: asked once for all."""
    # One byte is looked for twenty times as fast as several.
    return (
        _LEAD_BYTE in raw
        or (_BRACKET[0] in raw and _BRACKET in raw)
        or (_BACKSLASH in raw and _ESCAPED.search(raw) is not None)
    )


def has_markers(text: str) -> bool:
    """Whether `without_markers` has something to do.

    The closing bracket is looked for because its low byte is rare: `\ue200` and `†` take forty times as long.
    """
    return not text.isascii() and ("】" in text or any(mark in text for mark in _PRIVATE))


def without_markers(text: str, names: Mapping[str, str] | None = None) -> str:
    """Remove citation markers whole, and the brackets of cited spans; what the text says stays.

    Of an entity's marker its display name stays: the second item of the JSON array inside, else what `names` has for
    the marker as it stands.
    """
    if not has_markers(text):
        return text
    names = names or {}
    text = _MARKER.sub(lambda found: _shown(found, names), text)
    return _LENTICULAR.sub("", text)


def _shown(found: re.Match[str], names: Mapping[str, str]) -> str:
    kind, payload = found[1], found[2]
    if kind is None or not payload:
        return ""
    if kind.endswith("entity"):
        return _entity_name(payload[1:]) or names.get(found[0], "")
    return ""


def _entity_name(payload: str) -> str:
    try:
        value = json.loads(payload)
    except (ValueError, RecursionError):
        return ""
    if isinstance(value, list) and len(value) > 1 and isinstance(value[1], str):
        return value[1]
    return ""


def entity_names(references: object) -> dict[str, str]:
    """Give the display names that `content_references` tell, by the marker they stand for."""
    found: dict[str, str] = {}
    for reference in references if isinstance(references, list) else ():
        if isinstance(reference, dict):
            marker, name = reference.get("matched_text"), reference.get("name")
            if isinstance(marker, str) and isinstance(name, str):
                found[marker] = name
    return found


def citations(*sources: object) -> list[Citation]:
    """Collect the places that lists of references name, each once, in order of first sight.

    Known are ChatGPT's `content_references`, `citations` and `search_result_groups`, and Claude's `citations`.
    """
    found: dict[str, Citation] = {}
    pending = [source for source in reversed(sources) if source]
    while pending and len(found) < MAX_CITATIONS:
        value = pending.pop()
        if isinstance(value, list):
            pending.extend(reversed(value))
        elif isinstance(value, dict):
            _note(value, found)
            pending.extend(inner for name in reversed(_NESTED) if (inner := value.get(name)))
    return list(found.values())


def citation(url: object, title: object) -> list[Citation]:
    """Give the one source of a quoted page, or none."""
    return citations({"url": url, "title": title})


def _note(value: dict[str, Any], found: dict[str, Citation]) -> None:
    url = value.get("url")
    if not isinstance(url, str) or not url or len(url) > MAX_URL_CHARS:
        return
    title = next(_texts(value.get("title"), value.get("attribution")), None)
    known = found.get(url)
    if known is None:
        found[url] = Citation(url=url, title=title)
    elif known.title is None:
        known.title = title


def _texts(*values: object) -> Iterator[str]:
    return (value for value in values if isinstance(value, str) and value)
