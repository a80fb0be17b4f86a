"""A reader of lines, a drop folder in a temporary place, and a driver that commits what the adapter gives."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import msgspec

from adapters.contract import Capture, Element, FileHead, Heard, Reader, ReadOptions, Rejected, SourceError
from adapters.files.drop import DropAdapter
from adapters.files.drop_folder import DropFolder
from schemas.report import FileReport
from tests.support.sources import heard


class LineReader:
    """Each line is an event; `bad` is rejected, `stop` ends the file with a `SourceError`, `crash` is a bug."""

    name = "lines"
    provider = "test"

    def recognises(self, head: FileHead) -> bool:
        return not head.start.startswith(b"\x00")

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        for number, line in enumerate(stream):
            match line.strip().decode():
                case "bad":
                    yield Rejected(f"{path.name}: line {number}", "bad-line")
                case "stop":
                    raise SourceError("cannot go on")
                case "crash":
                    raise KeyError("a bug")
                case text:
                    yield heard(text, text)


@dataclass
class Drop:
    """A drop folder with committed checkpoints; `run` drives the adapter until it is idle."""

    path: Path
    events: list[str] = field(default_factory=list)
    captures: list[Capture] = field(default_factory=list)
    points: dict[str, bytes] = field(default_factory=dict)
    reader: Reader = field(default_factory=LineReader)
    settle_seconds: float = 0.0
    empty_seconds: float = 0.0
    refused_seconds: float = 0.0

    def put(self, name: str, content: bytes | str) -> Path:
        """Lay a file into the folder."""
        self.path.mkdir(exist_ok=True)
        path = self.path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def recognise(self, path: Path) -> Reader | None:
        """What the catalogue does, with one reader."""
        start = path.read_bytes()[:100]
        return self.reader if self.reader.recognises(FileHead(path, start, len(start))) and start else None

    def adapter(self) -> DropAdapter:
        """A new adapter, as after a restart."""
        folder = DropFolder(self.path, settle_seconds=self.settle_seconds, empty_seconds=self.empty_seconds)
        return DropAdapter("drop", folder, self.recognise, poll_seconds=0.001, refused_seconds=self.refused_seconds)

    def run(self, stop_after: int | None = None, after_commit: Callable[[Capture], object] = lambda _: None) -> None:
        """Commit captures until the folder is idle, or crash right after `stop_after` of them."""
        asyncio.run(self._run(stop_after, after_commit))

    async def _run(self, stop_after: int | None, after_commit: Callable[[Capture], object]) -> None:
        captures = self.adapter().captures(dict(self.points))
        try:
            async with asyncio.timeout(20):
                async for capture in captures:
                    if stop_after == 0 or not (capture.elements or capture.checkpoints):
                        return
                    self._commit(capture)
                    after_commit(capture)
                    if len(self.captures) == stop_after:
                        return
        finally:
            await captures.aclose()

    def _commit(self, capture: Capture) -> None:
        self.captures.append(capture)
        self.events += [element.event.id for element in capture.elements if isinstance(element, Heard)]
        for part, state in capture.checkpoints.items():
            if state is not None:
                self.points[part] = state

    def names(self, place: str = "") -> list[str]:
        """The files in a place, in order."""
        return sorted(path.name for path in (self.path / place).iterdir() if path.is_file())

    def report(self, place: str, name: str) -> FileReport:
        """The report beside a file."""
        return msgspec.json.decode((self.path / place / f"{name}.report.json").read_bytes(), type=FileReport)
