"""What tests do with exports: read them, break them, import them twice."""

import copy
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from adapters.contract import Element, FileHead, Heard, Reader, ReadOptions, Rejected, Skipped, Warned
from ingest.import_sinks import MemoryState
from ingest.log.contract import Record, Topic
from ingest.packing import Packer
from ingest.processors.normalize import NormalizeProcessor
from schemas.captured import CapturedEvent
from schemas.event import CanonicalEvent, decode

ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=4,
)
"""Any JSON value, NaN and huge numbers among them."""


def read(reader: Reader, raw: bytes, name: str = "input.json", **options: Any) -> list[Element]:
    return list(reader.read(io.BytesIO(raw), Path(name), ReadOptions(**options)))


def recognises(reader: Reader, raw: bytes, name: str = "input.json") -> bool:
    return reader.recognises(FileHead(Path(name), raw[: 64 * 1024], len(raw)))


def as_json(value: object) -> bytes:
    return json.dumps(value).encode()


def heard(elements: Iterable[Element]) -> list[CapturedEvent]:
    return [element.event for element in elements if isinstance(element, Heard)]


def rejected(elements: Iterable[Element]) -> list[Rejected]:
    return [element for element in elements if isinstance(element, Rejected)]


def skipped(elements: Iterable[Element]) -> list[Skipped]:
    return [element for element in elements if isinstance(element, Skipped)]


def warned(elements: Iterable[Element]) -> list[str]:
    return [element.message for element in elements if isinstance(element, Warned)]


def ids(elements: Iterable[Element]) -> list[str]:
    return [event.id for event in heard(elements)]


def told(elements: Iterable[Element]) -> list[tuple[str, str, str]]:
    """Type, role and text of each event."""
    return [(event.type, event.role, event.text) for event in heard(elements)]


@dataclass
class Imported:
    """What an import of elements gave: canonical events and counts."""

    events: list[CanonicalEvent] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    packed: dict[str, int] = field(default_factory=dict)


def imported(elements: Iterable[Element], state: MemoryState | None = None) -> Imported:
    """Send elements the way of an import: packed, normalised, deduplicated by what `state` knows."""
    packer, normalize, result = Packer("test", lambda: "2026-01-01T00:00:00.000Z"), NormalizeProcessor(), Imported()
    state = state or MemoryState()
    totals: dict[str, int] = {}
    for record in _records(packer, elements):
        if record.topic is not Topic.CAPTURED:
            continue
        outputs = normalize.process([Record(record.topic, 0, record.key, record.value, 0)], state)
        result.events += [decode(output.value) for output in outputs if output.topic is Topic.EVENTS]
        for name, count in normalize.counts().items():
            totals[name] = totals.get(name, 0) + count
    result.counts, result.packed = totals, dict(packer.counts)
    return result


def _records(packer: Packer, elements: Iterable[Element]) -> Iterator[Any]:
    for element in elements:
        yield from packer.feed(element)
    yield from packer.flush()


def assert_conserved(elements: list[Element]) -> None:
    """Every element is counted once, and a second import of the same adds nothing."""
    state = MemoryState()
    first = imported(elements, state)
    packed = first.packed
    parts = ("emitted", "empty", "hidden", "duplicate", "rejected")
    assert packed.get("seen", 0) == sum(packed.get(part, 0) for part in parts)
    counts = first.counts
    assert counts.get("seen", 0) == packed.get("emitted", 0)
    assert counts.get("seen", 0) == sum(counts.get(part, 0) for part in parts)
    assert imported(elements, state).counts.get("emitted", 0) == 0


def places(value: object, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place inside a JSON value, the value itself among them."""
    found = [at]
    if isinstance(value, dict):
        found += [place for name, inner in value.items() for place in places(inner, (*at, name))]
    elif isinstance(value, list):
        found += [place for number, inner in enumerate(value) for place in places(inner, (*at, number))]
    return found


def replaced(value: Any, place: tuple[Any, ...], new: Any) -> Any:
    """The value with something else at one place; `...` takes the member away."""
    if not place:
        return None if new is ... else new
    value = copy.deepcopy(value)
    inner = value
    for step in place[:-1]:
        inner = inner[step]
    if new is ...:
        del inner[place[-1]]
    else:
        inner[place[-1]] = new
    return value


@st.composite
def broken(draw: Any, value: Any) -> Any:
    """The value with one place null, missing, of another type, or a copy of another place."""
    found = places(value)
    place = draw(st.sampled_from(found))
    kind = draw(st.sampled_from(["missing", "any", "copy"]))
    if kind == "missing" and place:
        return replaced(value, place, ...)
    if kind == "copy":
        inner = value
        for step in draw(st.sampled_from(found)):
            inner = inner[step]
        return replaced(value, place, copy.deepcopy(inner))
    return replaced(value, place, draw(ANY))
