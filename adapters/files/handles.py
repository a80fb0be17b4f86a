"""Open descriptors of files that are being read: few, and none for a file that is at rest.

A file that is removed before it was read to its end can still be read through its descriptor (B22); because descriptors
are few and closed at the end of the file, they keep no disk full of deleted files (B13).
"""

import os
from collections import OrderedDict
from typing import Final

from adapters.files.fingerprint import open_regular

MAX_HANDLES: Final = 32
"""Far below any limit on open files, and more than are in the middle of being read at once."""


class Handles:
    """Descriptors by path, the least recently used closed first."""

    def __init__(self, limit: int = MAX_HANDLES) -> None:
        self._limit = limit
        self._open: OrderedDict[str, int] = OrderedDict()

    def __len__(self) -> int:
        return len(self._open)

    def get(self, path: str) -> int:
        """The descriptor of the file that was at `path` when it was opened. Raises OSError."""
        descriptor = self._open.get(path)
        if descriptor is None:
            if len(self._open) >= self._limit:
                os.close(self._open.popitem(last=False)[1])
            descriptor = self._open[path] = open_regular(path)
        self._open.move_to_end(path)
        return descriptor

    def close(self, path: str) -> None:
        """Close the descriptor of a path, if there is one."""
        descriptor = self._open.pop(path, None)
        if descriptor is not None:
            os.close(descriptor)

    def close_all(self) -> None:
        """Close every descriptor."""
        for path in list(self._open):
            self.close(path)
