"""Files that are written once and whole, as a live source: each is read when it is first seen or was replaced.

A file's state is written with its last elements: after a crash in between it is read again from its start, and equal
event ids absorb what was told before.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec

from adapters.contract import Capture, Element, SourceError, Warned
from adapters.files.checkpoint import key_of
from adapters.files.discover import Discovery, reading_order
from adapters.files.engine import Backfill

PREFIX: Final = "finished:"
"""All parts of such a source begin with it, so that it can share a name with a source of growing files."""

FIRST_SEEN: Final = PREFIX + "source"

POLL_SECONDS: Final = 60.0
"""Such files were at rest for days when they are written: a minute more is nothing."""

MAX_ELEMENTS: Final = 1000
"""Elements of one capture: a transaction of some milliseconds."""

ReadFile = Callable[[Path], Iterator[Element]]


class FinishedFiles:
    """Reads the files below `roots` that fit `patterns` through `read`, unless `passes` says to pass one over."""

    def __init__(
        self,
        roots: Iterable[Path],
        patterns: Sequence[str],
        read: ReadFile,
        *,
        passes: Callable[[Path], bool],
        backfill: Backfill = "start",
        poll_seconds: float = POLL_SECONDS,
    ) -> None:
        self._discovery = Discovery(roots, patterns)
        self._read = read
        self._passes = passes
        self._backfill = backfill
        self._poll_seconds = poll_seconds
        self._told: dict[str, str] = {}

    async def captures(self, checkpoints: Mapping[str, bytes]) -> AsyncIterator[Capture]:
        """See `adapters.contract.Adapter`; a file that cannot be read is told as `Warned`, and tried again."""
        states = {part: state for part, state in checkpoints.items() if part.startswith(PREFIX)}
        if FIRST_SEEN not in states:
            states[FIRST_SEEN] = msgspec.json.encode(time.time())
            yield Capture((), {FIRST_SEEN: states[FIRST_SEEN]})
        since = self._since(states[FIRST_SEEN])
        while True:
            for path, state in await asyncio.to_thread(self._due, states, since):
                async for capture in self._file(path, state):
                    states.update((part, to) for part, to in capture.checkpoints.items() if to is not None)
                    yield capture
            await asyncio.sleep(self._poll_seconds)

    def _since(self, first_seen: bytes) -> float:
        """From which time of writing on files are read, in Unix seconds."""
        if isinstance(self._backfill, datetime):
            return self._backfill.timestamp()
        try:
            return msgspec.json.decode(first_seen, type=float) if self._backfill == "now" else float("-inf")
        except msgspec.DecodeError:  # a damaged state: rather again than never
            return float("-inf")

    def _due(self, states: Mapping[str, bytes], since: float) -> list[tuple[str, bytes]]:
        """Give the files to read, in reading order, each with the state that says it was read."""
        due: list[tuple[str, bytes]] = []
        for path, status in self._discovery.scan().files.items():
            state = msgspec.json.encode([status.st_size, status.st_mtime_ns])
            if states.get(_part(path)) != state and status.st_mtime >= since and not self._passes(Path(path)):
                due.append((path, state))
        return sorted(due, key=lambda one: reading_order(one[0]))

    async def _file(self, path: str, state: bytes) -> AsyncIterator[Capture]:
        elements = self._read(Path(path))
        more = True
        while more:
            batch, problem = await asyncio.to_thread(_batch, elements)
            more = len(batch) == MAX_ELEMENTS and not problem
            if problem:
                if self._told.get(path) != problem:
                    batch.append(Warned(path, problem))
                    self._told[path] = problem
                if batch:
                    yield Capture(batch)
            else:
                yield Capture(batch, {} if more else {_part(path): state})


def _part(path: str) -> str:
    return PREFIX + key_of(path)


def _batch(elements: Iterator[Element]) -> tuple[list[Element], str]:
    """Take the next elements, and say what went wrong, if anything."""
    batch: list[Element] = []
    try:
        for element in islice(elements, MAX_ELEMENTS):
            batch.append(element)  # noqa: PERF402 - what came before an error is kept
    except FileNotFoundError:
        return batch, "gone before it was read"
    except OSError as error:
        return batch, f"cannot be read: {error.strerror or error}; it is tried again"
    except SourceError as error:
        return batch, str(error)
    return batch, ""


def plain_sibling(path: Path) -> bool:
    """Whether the file that a compressed one was made of stands beside it: then that one is read."""
    return os.path.lexists(path.with_suffix(""))
