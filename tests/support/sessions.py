"""What tests of all agents' session files share: lines, mutations, and the elements of a parser by kind."""

import copy
import json
from collections.abc import Iterable, Sequence
from typing import Any

from hypothesis import strategies as st

from adapters.contract import Element, Heard, Rejected, Skipped, Warned
from adapters.files.lines import Line, split_lines
from adapters.files.parsers import LineParser
from schemas.captured import CapturedEvent


def line(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def file_of(*values: object) -> bytes:
    """Join lines: bytes stand as they are, anything else becomes JSON."""
    return b"".join((value if isinstance(value, bytes) else line(value)) + b"\n" for value in values)


def feed(parser: LineParser, content: bytes) -> list[Element]:
    """Feed a whole file."""
    return [element for part in split_lines(content, 0) for element in parser.feed(part)]


def feed_each(parser: LineParser, lines: Iterable[bytes]) -> list[list[Element]]:
    """Feed lines one by one; gives what each gave."""
    start, given = 0, []
    for raw in lines:
        given.append(list(parser.feed(Line(start, start + len(raw) + 1, raw))))
        start += len(raw) + 1
    return given


def heard(elements: Iterable[Element]) -> list[Heard]:
    return [element for element in elements if isinstance(element, Heard)]


def events(elements: Iterable[Element]) -> list[CapturedEvent]:
    return [element.event for element in heard(elements)]


def texts(elements: Iterable[Element]) -> list[str]:
    return [event.text for event in events(elements)]


def told(elements: Iterable[Element]) -> list[tuple[str, str, str]]:
    """Give type, role and text of each event."""
    return [(event.type, event.role, event.text) for event in events(elements)]


def ids(elements: Iterable[Element]) -> list[str]:
    return [event.id for event in events(elements)]


def threads(elements: Iterable[Element]) -> list[str]:
    return [element.thread.thread_id for element in heard(elements)]


def skipped(elements: Iterable[Element]) -> list[tuple[str, str, int]]:
    return [(e.outcome, e.what, e.count) for e in elements if isinstance(e, Skipped)]


def rejected(elements: Iterable[Element]) -> list[Rejected]:
    return [element for element in elements if isinstance(element, Rejected)]


def warned(elements: Iterable[Element]) -> list[str]:
    return [element.message for element in elements if isinstance(element, Warned)]


def seen(elements: Iterable[Element]) -> int:
    """Count elements as reports do: seen = emitted + empty + hidden + duplicate + rejected."""
    return sum(e.count if isinstance(e, Skipped) else 1 for e in elements if not isinstance(e, Warned))


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("x" * 300)
junk = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "text", "role"]), inner),
    max_leaves=6,
)


def slots(value: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """List the places of all members and items of a value."""
    items: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    return [place for key, part in items for place in [(*path, key), *slots(part, (*path, key))]]


@st.composite
def mutated(draw: st.DrawFn, samples: Sequence[object]) -> object:
    """Take a sound line and make any of its members missing, null, or anything else."""
    value: Any = copy.deepcopy(draw(st.sampled_from(samples)))
    for _ in range(draw(st.integers(1, 3))):
        places = slots(value)
        if not places:
            break
        *path, last = draw(st.sampled_from(places))
        holder = value
        for step in path:
            holder = holder[step]
        if draw(st.booleans()):
            holder[last] = draw(junk)
        else:
            del holder[last]
    return value
