"""What every adapter promises: elements, captures, checkpoints, and the two faces of a source.

A `Reader` reads a finished file once (import, drop folder). An `Adapter` follows a live source for years. Both yield
the same elements. An error is a value for an element (`Rejected`) and an exception for a source (`SourceError`).
An adapter may also be `Routed` (senders reach it over HTTP) and `Checked` (it can say whether it would work).
"""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, Literal, Protocol, runtime_checkable

from msgspec import Struct

from schemas.captured import CapturedEvent, RawTime, Thread

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

MAX_SAMPLE_BYTES: Final = 64 * 1024
"""Original bytes kept of a rejected element: enough to see what it was, small enough for any log."""

HEAD_BYTES: Final = 64 * 1024
"""How much of a file a reader may look at to recognise it."""


class SourceError(Exception):
    """A source as a whole cannot be read now; the message says what, where, and what to do."""


class TransientSourceError(SourceError):
    """Worth another try after a pause: the network, a busy file, a rate limit.

    `pause_seconds` is what the source itself asks for; the pause is never shorter.
    """

    def __init__(self, message: str, pause_seconds: float = 0.0) -> None:
        super().__init__(message)
        self.pause_seconds = pause_seconds


class PermanentSourceError(SourceError):
    """Only a person can mend it: a missing folder, a wrong token, no permission."""


class Heard(Struct, frozen=True, gc=False):
    """One captured event with its thread; `nearby` are raw times to infer from (see `CapturedRecord`).

    A msgspec struct because there is one for every event: making a frozen dataclass costs ten times as much.
    """

    thread: Thread
    event: CapturedEvent
    nearby: tuple[RawTime, ...] = ()


@dataclass(frozen=True, slots=True)
class Rejected:
    """One element that could not be read.

    `where` is its place for a person (`file.jsonl: byte 1204`), `reason` a word of a closed set (`invalid-json`,
    `line-too-long`, …), `detail` what the parser said, `sample` the original bytes up to `MAX_SAMPLE_BYTES`.
    """

    where: str
    reason: str
    detail: str = ""
    sample: bytes = b""
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Skipped:
    """Elements that rightly give no event: without words, hidden, or known already; `what` says of which kind.

    A `what` that begins with `unknown`, such as `unknown line type`, says that this version does not know the kind:
    when their share rises, the format has changed (`ingest.drift`).
    """

    outcome: Literal["empty", "hidden", "duplicate"]
    what: str
    count: int = 1

    @property
    def unknown(self) -> bool:
        """Whether these are of a kind that this version does not know."""
        return self.what.startswith("unknown")


@dataclass(frozen=True, slots=True)
class Warned:
    """Something a person should know about the file that cost no element."""

    where: str
    message: str


Element = Heard | Rejected | Skipped | Warned


@dataclass(frozen=True, slots=True)
class Capture:
    """What one read of a source gave, and the checkpoints that say so.

    `checkpoints` maps a part of the source (a file, a room) to its new state, or None to forget the part. Elements and
    checkpoints are committed in one transaction. An empty capture says that the source has nothing more for now.
    """

    elements: Sequence[Element]
    checkpoints: Mapping[str, bytes | None] = field(default_factory=dict)


class Adapter(Protocol):
    """A live source."""

    name: str
    """The configured name of this source: key of its checkpoints, label of its metrics."""

    def captures(self, checkpoints: Mapping[str, bytes]) -> AsyncIterator[Capture]:
        """Follow the source for ever, from what `checkpoints` remember.

        Asking for the next capture says that the former is committed: only then may the source be told so, or asked
        for more. Waits while there is nothing new. Raises `SourceError`. Closing the iterator ends it.
        """
        ...


@runtime_checkable
class Routed(Protocol):
    """An adapter that is fed over HTTP: the daemon's server answers its routes."""

    def routes(self) -> "Sequence[BaseRoute]":
        """The routes; each proves its sender itself, and answers 2xx only for what is committed (`chat.inbox`)."""
        ...


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check of a source found, in words a person can act on; no secret is ever part of them.

    `problem` says that the source cannot work as it is, `warning` that it works less well than one would think.
    """

    level: Literal["ok", "warning", "problem"]
    what: str
    advice: str = ""


@runtime_checkable
class Checked(Protocol):
    """An adapter that can say whether it would work: credentials, reachability, permissions, what it would read."""

    async def check(self) -> list[Finding]:
        """Look without following, consuming or confirming anything; what is wrong is a finding, never an exception."""
        ...


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What a person may say about a file that the file does not say itself."""

    account: str | None = None
    timezone: str | None = None
    own_name: str | None = None
    chat: str | None = None
    """The name of the one chat that the file holds, where the format has none: a WhatsApp text export."""
    include_hidden: bool = False


@dataclass(frozen=True, slots=True)
class FileHead:
    """The beginning of a file, for recognising it by shape: never by its name alone."""

    path: Path
    """Where the file lies; a reader may take an id from its name, never decide by it."""
    start: bytes
    size: int


class Reader(Protocol):
    """A kind of finished file.

    A class attribute `fallback = True` says that it holds what another file of its export holds in a better form: it
    is then read only where no other reader of its provider has heard anything in the same folder or archive.
    """

    name: str
    """What a report calls the kind, for example `pi session`."""
    provider: str

    def recognises(self, head: FileHead) -> bool:
        """Whether the file has this reader's shape; must not raise on any bytes."""
        ...

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Yield every element of the file in order with bounded memory.

        Raises `SourceError` only when the file as a whole cannot be read; one bad element is a `Rejected`.
        """
        ...
