"""From a line of a session file to its entries: glued, torn, overlong and unreadable lines are settled here.

Source: B1, B19, B23, E18 to E20 of the format page.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from adapters.contract import MAX_SAMPLE_BYTES, Rejected, Warned
from adapters.files.json_line import BadLine, Fragment, LineDecoder, split_glued
from adapters.files.lines import Line, LongLine

T = TypeVar("T")


class Pieces(Generic[T]):
    """Decodes the lines of one file; names the place of what cannot be read.

    `whole` gives the entry that glued bytes mean, or None when they are no entry of their own: the nested block that a
    torn entry may end or begin with.
    """

    def __init__(self, path: Path, decoder: LineDecoder[T], whole: Callable[[bytes], T | None]) -> None:
        self._path = path
        self._decoder = decoder
        self._whole = whole

    def read(self, line: Line | LongLine) -> list[tuple[T, Line] | Rejected]:
        """Give what stands in a line, in order: one entry nearly always, each with the bytes that hold it."""
        if isinstance(line, LongLine):
            return [Rejected(self.where(line), "line-too-long", f"{line.size} bytes", line.sample, line.size)]
        try:
            return [(self._decoder.decode(line.raw), line)]
        except BadLine as error:
            return self._recovered(line, error)

    def _recovered(self, line: Line, error: BadLine) -> list[tuple[T, Line] | Rejected]:
        """Recover what stands glued to a torn entry; what cannot be recovered is rejected."""
        pieces = split_glued(line.raw, self._whole) if error.reason == "invalid-json" else []
        if all(isinstance(piece, Fragment) for piece in pieces):
            return [self.rejected(line, error.reason, str(error))]
        found: list[tuple[T, Line] | Rejected] = []
        for piece in pieces:
            part = Line(line.start + piece.start, line.start + piece.end, line.raw[piece.start : piece.end])
            if isinstance(piece, Fragment):
                found.append(self.rejected(part, piece.reason, "a fragment beside a whole entry"))
            else:
                found.append((piece.value, part))
        return found

    def warned(self, line: Line, message: str) -> Warned:
        """Warn of something in a line."""
        return Warned(self.where(line), message)

    def rejected(self, line: Line, reason: str, detail: str) -> Rejected:
        """Reject a line, with a sample of it."""
        return Rejected(self.where(line), reason, detail, line.raw[:MAX_SAMPLE_BYTES], len(line.raw))

    def where(self, line: Line | LongLine) -> str:
        """Name the place of a line for a person."""
        return f"{self._path}: byte {line.start}"
