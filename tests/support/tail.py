"""A parser, a sink and a driver for tests of the tailer, without a clock."""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adapters.contract import Capture, Element, Heard, Rejected, Warned
from adapters.files.discover import Discovery
from adapters.files.engine import TailEngine
from adapters.files.lines import Line, LongLine
from schemas.captured import CapturedEvent, Thread
from schemas.ids import event_id


class LineEcho:
    """A parser that tells each line once: its text, and a running number that only a parser fed from byte 0 knows."""

    built = 0

    def __init__(self, path: Path, status: os.stat_result | None = None) -> None:
        type(self).built += 1
        self.thread = Thread(provider="test", thread_id=path.name)
        self.number = 0

    def feed(self, line: Line | LongLine) -> Iterable[Element]:
        self.number += 1
        if isinstance(line, LongLine):
            return [Rejected(f"byte {line.start}", "line-too-long", "", line.sample, line.size)]
        text = line.raw.decode(errors="replace")
        event = CapturedEvent(
            id=event_id("test", text), type="message", role="user", text=text, message_id=str(self.number)
        )
        return [Heard(self.thread, event)]


@dataclass
class Sink:
    """What was committed: elements in order, and checkpoints."""

    elements: list[Element] = field(default_factory=list)
    checkpoints: dict[str, bytes] = field(default_factory=dict)

    def commit(self, capture: Capture) -> None:
        self.elements.extend(capture.elements)
        for part, state in capture.checkpoints.items():
            if state is None:
                self.checkpoints.pop(part, None)
            else:
                self.checkpoints[part] = state

    @property
    def heard(self) -> list[Heard]:
        return [element for element in self.elements if isinstance(element, Heard)]

    @property
    def texts(self) -> list[str]:
        """Every line as often as it was delivered."""
        return [heard.event.text for heard in self.heard]

    @property
    def once(self) -> list[str]:
        """Every line once, in order of first delivery: what deduplication by event id leaves."""
        return list(dict.fromkeys(self.texts))

    @property
    def numbers(self) -> list[int]:
        return [int(heard.event.message_id or 0) for heard in self.heard]

    @property
    def rejected(self) -> list[Rejected]:
        return [element for element in self.elements if isinstance(element, Rejected)]

    @property
    def warnings(self) -> list[str]:
        return [element.message for element in self.elements if isinstance(element, Warned)]


class Driver:
    """An engine on a folder with its sink; `restart` begins again from what is committed."""

    def __init__(self, *roots: Path, sink: Sink | None = None, **options: Any) -> None:
        self.roots = roots
        self.options = options
        self.patterns = self.options.pop("patterns", ("*.jsonl",))
        self.parser = self.options.pop("parser", LineEcho)
        self.sink = sink or Sink()
        self.engine = self._engine(self.sink.checkpoints)

    def _engine(self, checkpoints: Mapping[str, bytes]) -> TailEngine:
        return TailEngine(Discovery(self.roots, self.patterns), self.parser, dict(checkpoints), **self.options)

    def restart(self) -> None:
        """Stop and start; whatever was read and not committed is forgotten, as after a kill."""
        self.engine.close()
        self.engine = self._engine(self.sink.checkpoints)

    def captures(self) -> list[Capture]:
        """Read all that is lined up, committing each capture before the next."""
        captures = []
        while self.engine.busy:
            capture = self.engine.read()
            if capture is not None:
                self.sink.commit(capture)
                captures.append(capture)
        return captures

    def poll(self) -> list[str]:
        """Search and read everything; returns the lines that came."""
        before = len(self.sink.heard)
        self.engine.sweep()
        self.captures()
        return self.sink.texts[before:]


def line(text: str) -> bytes:
    """A JSON line that holds a text."""
    return json.dumps({"text": text}).encode() + b"\n"


def lines(*texts: str) -> bytes:
    """Several such lines."""
    return b"".join(map(line, texts))


def told(*texts: str) -> list[str]:
    """Those lines as the sink holds them."""
    return [line(text).decode().rstrip("\n") for text in texts]


def append(path: Path, data: bytes) -> None:
    """Append as a writer does."""
    with path.open("ab") as file:
        file.write(data)


def overwrite(path: Path, data: bytes, at: int = 0) -> None:
    """Change bytes in place: the same inode, nothing cut."""
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)
