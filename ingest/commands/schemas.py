"""`session-ingest schema` and `session-ingest validate`: the public contract, and whether a file keeps to it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from adapters.files.lines import LongLine, read_lines
from schemas.event import decode

MAX_FAULTS: Final = 1000
"""Faults that are kept to be named; more are counted."""


@dataclass(slots=True)
class Validation:
    """How many lines of a file are valid canonical events, and what is wrong with the others."""

    events: int = 0
    invalid: int = 0
    duplicates: int = 0
    faults: list[str] = field(default_factory=list)

    def fault(self, where: str, what: str) -> None:
        """Count a line that is no valid event."""
        self.invalid += 1
        if len(self.faults) < MAX_FAULTS:
            self.faults.append(f"{where}: {what}")


def validate(path: Path) -> Validation:
    """Hold each line of a JSONL file against the published schema, as a writer must keep it; raises `OSError`."""
    result, seen = Validation(), set[bytes]()
    for number, line in _lines(path):
        where = f"{path}:{number}"
        if line is None:
            result.fault(where, "longer than any event may be")
            continue
        try:
            event = decode(line)
        except msgspec.ValidationError as error:
            result.fault(where, str(error))
        except (msgspec.DecodeError, RecursionError) as error:
            result.fault(where, f"no JSON object: {error}")
        else:
            result.events += 1
            identity = msgspec.json.encode(event.event.id)
            result.duplicates += identity in seen
            seen.add(identity)
    return result


def _lines(path: Path) -> Iterator[tuple[int, bytes | None]]:
    with path.open("rb") as stream:
        for number, line in enumerate(read_lines(stream, 0, None, final=True), 1):
            yield number, None if isinstance(line, LongLine) else line.raw
