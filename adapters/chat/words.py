"""What live chats and exports of them have in common: words for what has none of its own, and for what is unknown."""

from collections.abc import Iterable
from typing import Any, Final

from adapters.exports.fields import Object, obj, text, word

UNKNOWN_LABEL: Final = "unknown-kind"
"""Label of what this version does not know: kept with the words that were found in it."""

MIN_UNIX_DIGITS: Final = 9
"""Seconds since 1970 with fewer digits are before March 1973, and mean that there is no time."""

MAX_NODES: Final = 20_000
"""Values looked at in a message of an unknown shape; a real one has a few hundred."""

MAX_LINE: Final = 200
"""Characters of others' words in a line of ours: enough to see what is meant."""

_MAX_ID: Final = 2**53


def integer(value: Any) -> int | None:
    """Give an id: a whole number, or its digits as a text, that a program in JavaScript can hold."""
    if isinstance(value, str) and value.lstrip("-").isdecimal() and len(value) < len(str(_MAX_ID)) + 1:
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _MAX_ID else None


def unix(value: object) -> int | None:
    """Give seconds since 1970; what is before 1973 means that there is no time."""
    found = integer(value)
    return found if found is not None and len(str(abs(found))) >= MIN_UNIX_DIGITS else None


def bracket(what: str, *details: object) -> str:
    """Stand for something without words of its own: `[location: Harbour 1.5, 2.5]`."""
    told = " ".join(found.strip() for detail in details if (found := word(detail)))
    return f"[{what}: {told}]" if told else f"[{what}]"


def place(spot: Object, name: object = None, address: object = None) -> str:
    """Say which place was shared; `spot` has a latitude and a longitude."""
    found = [str(spot[key]) for key in ("latitude", "longitude") if isinstance(spot.get(key), int | float)]
    return bracket("location", name, address, ", ".join(found))


def choices(what: str, question: str, answers: Iterable[str]) -> str:
    """Say what a poll asks, or what is on a list, one answer a line."""
    return "\n".join([bracket(what, question), *(f"- {answer}" for answer in answers)])


def joined(value: object) -> str:
    """Join a text, or a list of texts and `{type, text}`; what is neither has no words."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return ""
    return "".join(part if isinstance(part, str) else text(obj(part).get("text")) for part in value)


def unknown_body(message: Object, known: frozenset[str]) -> tuple[str, str] | None:
    """Give the name and the words of the first member that is not `known` and has a shape, such as `rich_message`.

    Where there is none, a text counts; numbers and the like say nothing.
    """
    others = {name: value for name, value in message.items() if name not in known}
    for kind in (dict | list, str):
        for name, value in others.items():
            if isinstance(value, kind):
                return name, nested_words(value)
    return None


def nested_words(value: Any, members: frozenset[str] = frozenset({"text"})) -> str:
    """Collect the texts of a nested shape in their order, one a line; without recursion, up to `MAX_NODES` values.

    A text counts in a list, or as one of the `members` of an object.
    """
    found: list[str] = []
    waiting: list[Any] = [value]
    for _ in range(MAX_NODES):
        if not waiting:
            break
        node = waiting.pop()
        if isinstance(node, dict):
            waiting.extend(
                joined(child) or child if key in members else child
                for key, child in reversed(node.items())
                if key in members or isinstance(child, dict | list)
            )
        elif isinstance(node, list):
            waiting.extend(reversed(node))
        elif word(node):
            found.append(node.strip())
    return "\n".join(found)


def one_line(words: str, most: int = MAX_LINE) -> str:
    """Make words of others fit for one line of a log or a terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in words[: 4 * most])[:most].strip()
