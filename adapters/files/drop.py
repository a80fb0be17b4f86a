"""The drop folder as a source: what is put there is read once, then moved to `done/` or `rejected/` with its report.

A file's checkpoint stands under its content's hash, and says how many elements are in the log: after a crash reading
goes on behind them (B46), and the same content under another name adds nothing. A file is moved only when its last
element is committed (B10). What cannot be read costs itself, never the folder.
"""

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from adapters.contract import Capture, Finding, Reader, ReadOptions, Rejected, Skipped, Warned
from adapters.files.check import drop_findings
from adapters.files.drop_file import DropFile, NotRegularError, Reading, Recognise, StoppedError
from adapters.files.drop_folder import DropFolder, Place, printable
from schemas.report import FileReport

T = TypeVar("T")

POLL_SECONDS: Final = 1.0
"""One scan of a folder a second costs nothing and needs no notification, which network disks do not give."""

REFUSED_SECONDS: Final = 60.0
"""A file that cannot be opened may yet get its permissions; after this time it is set aside."""


class FileState(msgspec.Struct, kw_only=True, rename="camel"):
    """The checkpoint of one content: elements committed, by which reader, and whether its file was moved."""

    name: str
    reader: str
    elements: int = 0
    seen: int = 0
    moved: bool = False


@dataclass(slots=True)
class DropAdapter:
    """Follows one drop folder."""

    name: str
    folder: DropFolder
    recognise: Recognise
    options: ReadOptions = field(default_factory=ReadOptions)
    poll_seconds: float = POLL_SECONDS
    refused_seconds: float = REFUSED_SECONDS
    _refused: dict[str, float] = field(default_factory=dict)

    async def captures(self, checkpoints: Mapping[str, bytes]) -> AsyncIterator[Capture]:
        """Take each complete file in order of name; an empty capture says that all there was has been taken."""
        states = dict(checkpoints)
        stop = threading.Event()
        try:
            while True:
                names, warnings = await asyncio.to_thread(self._look)
                if warnings:
                    yield Capture(warnings)
                for name in names:
                    async with aclosing(self._take(name, states, stop)) as captures:
                        async for capture in captures:
                            states.update((part, to) for part, to in capture.checkpoints.items() if to is not None)
                            yield capture
                if not (names or self.folder.waiting):
                    yield Capture(())
                await asyncio.sleep(self.poll_seconds)
        finally:
            # A thread may still be hashing gigabytes; the process must not wait for it.
            stop.set()

    async def check(self) -> list[Finding]:
        """See `Checked`."""
        return await asyncio.to_thread(drop_findings, self.folder.path)

    def _look(self) -> tuple[list[str], list[Warned]]:
        """See `DropFolder.look`; the folder is made anew where somebody has removed it."""
        self.folder.prepare()
        return self.folder.look()

    async def _take(
        self, name: str, states: Mapping[str, bytes], stop: threading.Event
    ) -> AsyncGenerator[Capture, None]:
        try:
            reader = await asyncio.to_thread(self._reader, name, stop)
            file = DropFile(self.folder.path / name, stop)
        except FileNotFoundError:
            return
        except NotRegularError:
            await self._set_aside(name, "a link or no regular file; put the file itself there")
            return
        except OSError as error:
            await self._refuse(name, f"cannot be opened: {error.strerror}")
            return
        self._refused.pop(name, None)
        with file:
            if reader is None:
                yield Capture([Rejected(printable(name), "unknown-file", "recognised as no known kind")])
                await self._set_aside(name, _empty_or_unknown(file))
                return
            async with aclosing(self._read(name, file, reader, states)) as captures:
                async for capture in captures:
                    yield capture

    def _reader(self, name: str, stop: threading.Event) -> Reader | None:
        """Ask for the reader, once the file is known to be a regular one."""
        with DropFile(self.folder.path / name, stop):
            return self.recognise(self.folder.path / name)

    async def _read(
        self, name: str, file: DropFile, reader: Reader, states: Mapping[str, bytes]
    ) -> AsyncGenerator[Capture, None]:
        """Give the elements that are not in the log yet, then move the file."""
        try:
            part = f"sha256:{await _in_thread(file.digest, file.stop)}"
            state = _state(states.get(part), name, reader)
            if state.moved:
                yield Capture([Skipped("duplicate", "known file", state.seen)] if state.seen else ())
                await self._move(name, "done", _known(name, reader, state))
                return
            reading = Reading(file, reader, self.options, skip=state.elements)
            while not reading.ended:
                elements = await _in_thread(reading.batch, file.stop)
                state.elements, state.seen = max(state.elements, reading.taken), reading.report.seen
                if elements:
                    yield Capture(elements, {part: msgspec.json.encode(state)})
        except StoppedError:
            return
        async with aclosing(self._finish(name, file, reading, part, state)) as captures:
            async for capture in captures:
                yield capture

    async def _finish(
        self, name: str, file: DropFile, reading: Reading, part: str, state: FileState
    ) -> AsyncGenerator[Capture, None]:
        """Move a file whose last element is committed; one that has changed meanwhile, or may heal, is read again."""
        if reading.transient or not await asyncio.to_thread(file.unchanged):
            self.folder.forget(name)
            why = reading.report.error or "it was changed while it was read"
            yield Capture([Warned(printable(name), f"will be read again: {why}")])
            return
        if reading.report.error:
            yield Capture([Rejected(printable(name), "unreadable-file", reading.report.error)])
        await self._move(name, _place(reading.report), reading.report)
        state.moved = not reading.report.error
        yield Capture((), {part: msgspec.json.encode(state)})

    async def _refuse(self, name: str, why: str) -> None:
        """Wait a while for a file that cannot be opened, then set it aside."""
        now = time.monotonic()
        if now - self._refused.setdefault(name, now) >= self.refused_seconds:
            del self._refused[name]
            await self._set_aside(name, why)

    async def _set_aside(self, name: str, why: str) -> None:
        await self._move(name, "rejected", FileReport(path=printable(name), error=why))

    async def _move(self, name: str, place: Place, report: FileReport) -> None:
        await asyncio.to_thread(self.folder.put, name, place, report)


def drop_adapter(name: str, path: Path, recognise: Recognise) -> DropAdapter:
    """The adapter of a drop folder with the usual pauses."""
    return DropAdapter(name, DropFolder(path), recognise)


async def _in_thread(read: Callable[[], T], stop: threading.Event) -> T:
    """Read in a thread; when cancelled, the thread is told to stop before its file is closed."""
    try:
        return await asyncio.to_thread(read)
    except asyncio.CancelledError:
        stop.set()
        raise


def _state(stored: bytes | None, name: str, reader: Reader) -> FileState:
    """What is known of a content; another reader, or release, may count elements otherwise and begins again."""
    # Ids absorb what is then captured twice; skipping by a wrong count would lose.
    by = f"{reader.name} {version('session-triage')}"
    fresh = FileState(name=printable(name), reader=by)
    if stored is None:
        return fresh
    try:
        state = msgspec.json.decode(stored, type=FileState)
    except msgspec.DecodeError:
        return fresh
    return state if state.moved or state.reader == by else fresh


def _known(name: str, reader: Reader, state: FileState) -> FileReport:
    report = FileReport(path=printable(name), recognised_as=reader.name)
    report.skip("duplicate", "known file", state.seen)
    report.warn(f"the same content was taken before, as {state.name}; nothing was added")
    return report


def _place(report: FileReport) -> Place:
    """A file of which nothing at all could be read is set aside."""
    nothing = report.rejected_count > 0 and report.rejected_count == report.seen
    return "rejected" if report.error or nothing else "done"


def _empty_or_unknown(file: DropFile) -> str:
    return "empty file" if file.before.size == 0 else "recognised as no known kind; nothing was read"
