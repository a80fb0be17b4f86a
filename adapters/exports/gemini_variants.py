"""Words inside the serialised JSON of Gemini's `userInteractions`, whose inner shape nobody has published.

Source: section 4.4 of the PAM page (variant B).
"""

from typing import Any, Final

from adapters.exports.fields import Object, obj, objects, word
from adapters.files.json_line import BadLine, decode_line

MAX_NODES: Final = 10_000
"""Values looked at for words in one request: a real one holds a handful."""

# Where words are looked for, best first.
_WORDS: Final = ("text", "prompt", "query", "message", "content", "value", "parts", "request", "response", "candidates",
                 "contents", "data")  # fmt: skip


def interaction_words(value: Object, side: str) -> list[str]:
    """Give the words of each interaction of a record; `side` is `request` or `response`."""
    interactions = (
        interaction
        for item in objects(value.get("userInteractions"))
        for inner in [item.get("userInteraction")]
        for interaction in ([inner] if isinstance(inner, dict) else objects(inner))
    )
    return [words for interaction in interactions if (words := _words(interaction.get(side)))]


def _words(serialised: object) -> str | None:
    """Give the words of a request: of its JSON, or the text itself when it is none."""
    said = word(serialised)
    if said is None:
        return _search(serialised)
    if said.lstrip()[0] not in '{["':
        return said
    try:
        value = decode_line(said.encode("utf-8", "replace"))
    except BadLine:
        return said
    return _search(value)


def _search(value: object) -> str | None:
    """Find words in the order of the document; of an object only its best member is followed."""
    found: list[str] = []
    left: list[Any] = [value]
    for _ in range(MAX_NODES):
        if not left:
            break
        item = left.pop()
        if isinstance(item, str):
            found.append(item)
        elif isinstance(item, list):
            left.extend(reversed(item))
        elif best := next((name for name in _WORDS if obj(item).get(name)), None):
            left.append(obj(item)[best])
    return word("\n".join(found))
