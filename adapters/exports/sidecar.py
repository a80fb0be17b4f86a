"""Files of an export that are known and hold no conversations: named, and passed over without a failure."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from adapters.contract import Element, FileHead, ReadOptions, Warned
from adapters.exports.shape import Outline, outline


@dataclass(frozen=True, slots=True)
class SidecarReader:
    """Knows one kind of such files by its shape; reading it only says what it is and what to import instead."""

    name: str
    provider: str
    fits: Callable[[Outline], bool]
    advice: str

    def recognises(self, head: FileHead) -> bool:
        """Whether the file has the shape of this kind."""
        found = outline(head.start)
        return bool(found.top) and self.fits(found)

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Yield a single remark."""
        del stream, options
        yield Warned(str(path), f"{self.name}: {self.advice}")
