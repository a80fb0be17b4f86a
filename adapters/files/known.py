"""The files of a source that are known: their states, what moved, and what to forget.

A file's state is found by its path; when the path is new, by content: a renamed file (same inode, or a missing file's
head) keeps its cursor. States are forgotten only when a file has been gone for long, never because it is old (B6).
"""

import os
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct

from adapters.contract import Warned
from adapters.files.checkpoint import (
    SOURCE_PART,
    CheckpointError,
    FileState,
    Seen,
    decode_state,
    encode_state,
    key_of,
    path_of,
)
from adapters.files.discover import Scan
from adapters.files.fingerprint import HEAD_BYTES, SlotRule, Start, Verdict, judge, open_regular

KEEP_GONE_SECONDS: Final = 30 * 24 * 3600
"""How long a missing file's state is kept: disks are unplugged and folders restored within weeks."""


class KnownFile(Struct, gc=False, eq=False):
    """A file as the tailer holds it; there may be 100,000, so the garbage collector does not visit them."""

    path: str
    state: FileState
    drained: bool = False
    """Whether it was read to its end as of `state.seen`."""
    pending: int = 0
    """Bytes known to be unread."""
    queued: bool = False
    live: bool = False
    """Whether its place is among the files that are being written, not among the old ones."""
    racy: bool = False
    """Whether it changed so shortly before the last look that a further change may show the same times."""
    suspect: bool = False
    """Whether the consumed bytes must be compared whole."""
    audit: tuple[int, int, Seen] | None = None
    """Progress of that comparison: next byte, checksum so far, what the file looked like when it began."""
    skip: bool = False
    """Whether its present content is to be passed over."""
    turn: int = 0
    """Bytes read in this turn."""

    def wants_look(self, status: os.stat_result) -> bool:
        """Whether the file may have changed, or was not read to its end."""
        seen = self.state.seen
        return (
            seen.size != status.st_size
            or seen.mtime_ns != status.st_mtime_ns
            or seen.ctime_ns != status.st_ctime_ns
            or seen.inode != status.st_ino
            or not self.drained
            or self.racy
        )

    def restart(self) -> None:
        """Begin again at byte 0, with nothing known."""
        self.state = FileState()
        self.audit = None
        self.suspect = self.drained = False


class KnownFiles:
    """All files of a source, by path."""

    def __init__(self, rule: SlotRule) -> None:
        self.by_path: dict[str, KnownFile] = {}
        self.moved: dict[str, KnownFile | None] = {}
        """States to write with the next capture, by key; None forgets."""
        self._rule = rule
        self.renamed: list[str] = []
        """Former paths of renamed files, for those who hold something open under them; they empty it."""
        self._inodes: dict[int, KnownFile] = {}
        self._unlisted: set[KnownFile] = set()
        """Those that the last search did not find, whether or not they exist."""
        self._missing: set[KnownFile] = set()
        """Those of them that do not exist."""
        # A shorter head says too little to look for a file by it; such a file is small and cheap to read again.
        self._missing_heads: dict[str, KnownFile] = {}

    def load(self, checkpoints: Mapping[str, bytes]) -> Iterable[Warned]:
        """Take over committed states; a damaged one means reading that file again, with a warning."""
        for key, value in checkpoints.items():
            if key == SOURCE_PART:
                continue
            path = path_of(key)
            try:
                state = decode_state(value)
                file = KnownFile(path, state, state.cursor.offset >= state.seen.size > 0)
            except CheckpointError as error:
                file = KnownFile(path, FileState())
                yield Warned(path, f"{error}; the file is read again from its start")
            self.by_path[path] = file
            self._inodes[file.state.seen.inode] = file

    def find(self, path: str, status: os.stat_result) -> tuple[KnownFile, bool]:
        """The file at a path, and whether it is new; a further name of a known file gives that file."""
        file = self.by_path.get(path)
        if file is not None:
            return file, False
        former = self._inodes.get(status.st_ino)
        if former is not None and _is_at(former.path, status):
            return former, False
        file = self.by_path[path] = KnownFile(path, FileState())
        self._inodes[status.st_ino] = file
        former = self._predecessor(path, former)
        if former is None:
            return file, True
        self._move(former, file)
        return file, False

    def _predecessor(self, path: str, former: KnownFile | None) -> KnownFile | None:
        """The known file whose content goes on at a new path."""
        if former is None and not self._missing_heads:
            return None
        try:
            descriptor = open_regular(path)
        except OSError:
            return None  # its first turn meets the same error and reports it
        try:
            size, start = os.fstat(descriptor).st_size, Start.read(descriptor, self._rule)
            for candidate in (former, self._missing_heads.get(start.head.digest)):
                if candidate is not None and candidate.state.cursor.offset:
                    state = candidate.state
                    if judge(descriptor, size, (state.head, state.slot, state.cursor), start) is Verdict.SAME:
                        return candidate
        except OSError:
            return None
        else:
            return None
        finally:
            os.close(descriptor)

    def _move(self, former: KnownFile, file: KnownFile) -> None:
        """Give a renamed file its state; the old name, should it come back, is a new file."""
        self._present(former)
        self._unlisted.discard(former)
        self.renamed.append(former.path)
        file.state, file.suspect = former.state, True
        file.state.seen, file.state.gone_since = Seen(), 0
        former.restart()
        former.pending = 0
        if not former.queued and not os.path.lexists(former.path):
            self.by_path.pop(former.path, None)
        self.moved[key_of(former.path)] = None
        self.moved[key_of(file.path)] = file

    def note(self, file: KnownFile) -> None:
        """Remember that a file's state has moved and must be written."""
        self.moved[key_of(file.path)] = file
        self._inodes[file.state.seen.inode] = file

    def _found(self, file: KnownFile) -> None:
        self._unlisted.discard(file)
        self._present(file)
        if file.state.gone_since:
            file.state.gone_since = 0
            self.note(file)

    def reconcile(self, scan: Scan, now: float) -> None:
        """Note which known files a search found and which it did not; forget those gone for long."""
        for file in [file for file in self._unlisted if file.path in scan.files]:
            self._found(file)
        for path in self.by_path.keys() - scan.files.keys():
            file = self.by_path[path]
            if file not in self._unlisted:
                if scan.covers(path):
                    self._unlisted.add(file)
                    self._gone(file, now)
            elif file in self._missing and now - file.state.gone_since > KEEP_GONE_SECONDS:
                self._forget(file)

    def _gone(self, file: KnownFile, now: float) -> None:
        if os.path.lexists(file.path):
            return
        if not file.state.cursor.offset:
            self._forget(file)
            return
        self._missing.add(file)
        if file.state.head.length == HEAD_BYTES:
            self._missing_heads[file.state.head.digest] = file
        if not file.state.gone_since:
            file.state.gone_since = int(now)
            self.note(file)

    def _forget(self, file: KnownFile) -> None:
        if file.queued or os.path.lexists(file.path):
            self._unlisted.discard(file)
            return
        self._unlisted.discard(file)
        self._present(file)
        self.by_path.pop(file.path, None)
        self.moved[key_of(file.path)] = None
        if self._inodes.get(file.state.seen.inode) is file:
            del self._inodes[file.state.seen.inode]

    def _present(self, file: KnownFile) -> None:
        """Take a file off the list of missing ones."""
        if file in self._missing:
            self._missing.discard(file)
            self._missing_heads.pop(file.state.head.digest, None)

    def take_moved(self) -> dict[str, bytes | None]:
        """All states that have moved since they were last taken, encoded: they belong to one transaction."""
        moved, self.moved = self.moved, {}
        # A file at byte 0 needs no state: reading an unknown file begins there.
        return {
            key: encode_state(file.state) if file is not None and file.state.cursor.offset else None
            for key, file in moved.items()
        }


def _is_at(path: str, status: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(path), status)  # noqa: PTH116 - a plain string all the way
    except OSError:
        return False
