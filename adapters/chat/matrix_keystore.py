"""The keys of one Matrix device in one SQLite file: its account, its Olm sessions, the room keys it was given.

What a to-device message changes is one transaction, flushed to the disk: the server deletes the message once it is told
that we have it, and half of the changes (a one-time key spent, but no room key) could never be made good. The secrets
are pickles of vodozemac; their own encryption adds nothing here, where the key to it would lie beside them: the mode of
folder and file protects them.
"""

import fcntl
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from adapters.contract import PermanentSourceError, SourceError, TransientSourceError

FILE: Final = "keys.db"

MAX_SESSIONS: Final = 5
"""Olm sessions kept of one device of somebody, those used last; the specification asks for four at least."""

MAX_HANDLED: Final = 20_000
"""To-device messages known to be handled, which come again after a crash: one sync has a hundred."""

PICKLE_KEY: Final = bytes(32)

_APPLICATION: Final = 0x53544D4B  # "STMK", which tells this file from any other of SQLite
_VERSION: Final = 1
_DAMAGED: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR})
_CLOSED_TO_US: Final = frozenset({sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM})

_TABLES: Final = f"""
    BEGIN IMMEDIATE;
    CREATE TABLE device (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE olm_sessions (
        number INTEGER PRIMARY KEY AUTOINCREMENT, sender_key TEXT NOT NULL, session TEXT NOT NULL UNIQUE,
        pickle TEXT NOT NULL
    );
    CREATE INDEX olm_sessions_of ON olm_sessions (sender_key, number);
    CREATE TABLE room_keys (
        session TEXT NOT NULL, room TEXT NOT NULL, sender TEXT NOT NULL, sender_key TEXT NOT NULL,
        first_index INTEGER NOT NULL, pickle TEXT NOT NULL, PRIMARY KEY (session, room, sender)
    ) WITHOUT ROWID;
    CREATE TABLE handled (number INTEGER PRIMARY KEY AUTOINCREMENT, digest BLOB NOT NULL UNIQUE);
    PRAGMA application_id = {_APPLICATION};
    PRAGMA user_version = {_VERSION};
    COMMIT;
"""


class RoomKey(NamedTuple):
    """A Megolm session: who gave it, for which room, and the index of the first message that it can read."""

    session: str
    room: str
    sender: str
    sender_key: str
    first_index: int
    pickle: str

    def __repr__(self) -> str:
        return f"RoomKey(room={self.room!r}, sender={self.sender!r})"


class KeyStore:
    """The file in `folder`, of the device `device` of `user`; its methods raise `SourceError`. One thread at a time."""

    def __init__(self, folder: Path, user: str, device: str) -> None:
        self.path = folder / FILE
        self._lock = -1
        self._connection: sqlite3.Connection | None = None
        self._changing = threading.RLock()
        try:
            self._open(folder)
            self._belongs_to(user, device)
        except OSError as error:
            self.close()
            raise PermanentSourceError(f"the keys cannot be used: {self.path}: {error.strerror}") from None
        except SourceError:
            self.close()
            raise

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make all changes within durable together, or none of them when anything is raised."""
        with self._changing:
            self._execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                if self._connection is not None and self._connection.in_transaction:  # SQLite ends it on a full disk
                    self._execute("ROLLBACK")
                raise
            self._execute("COMMIT")

    def get(self, name: str) -> str | None:
        """Give what is noted of our own device under a name."""
        rows = self._execute("SELECT value FROM device WHERE name = ?", name)
        return rows[0][0] if rows else None

    def put(self, name: str, value: str) -> None:
        """Note something of our own device."""
        self._execute("INSERT OR REPLACE INTO device VALUES (?, ?)", name, value)

    def sessions(self, sender_key: str) -> list[str]:
        """Give the pickles of the Olm sessions with a device, those used last first."""
        found = "SELECT pickle FROM olm_sessions WHERE sender_key = ? ORDER BY number DESC"
        return [row[0] for row in self._execute(found, sender_key)]

    def save_session(self, sender_key: str, session: str, pickle: str) -> None:
        """Keep an Olm session that was just used, and forget the ones used longest ago when there are too many."""
        added = "INSERT OR REPLACE INTO olm_sessions (sender_key, session, pickle) VALUES (?, ?, ?)"
        self._execute(added, sender_key, session, pickle)
        newest = "SELECT number FROM olm_sessions WHERE sender_key = ?1 ORDER BY number DESC LIMIT ?2"
        too_many = f"DELETE FROM olm_sessions WHERE sender_key = ?1 AND number NOT IN ({newest})"  # noqa: S608 - no value
        self._execute(too_many, sender_key, MAX_SESSIONS)

    def room_keys(self, session: str) -> list[RoomKey]:
        """Give the keys of a session; more than one when several people said that it is theirs, or of several rooms."""
        found = "SELECT session, room, sender, sender_key, first_index, pickle FROM room_keys WHERE session = ?"
        return [RoomKey(*row) for row in self._execute(found, session)]

    def keep(self, key: RoomKey) -> bool:
        """Keep a room key, unless the one that is there reads as much; says whether it was kept."""
        known = (found for found in self.room_keys(key.session) if (found.room, found.sender) == (key.room, key.sender))
        if any(found.first_index <= key.first_index for found in known):
            return False
        self._execute("INSERT OR REPLACE INTO room_keys VALUES (?, ?, ?, ?, ?, ?)", *key)
        return True

    def is_handled(self, digest: bytes) -> bool:
        """Whether a to-device message has been handled before."""
        return bool(self._execute("SELECT 1 FROM handled WHERE digest = ?", digest))

    def note_handled(self, digest: bytes) -> None:
        """Note that a to-device message is handled."""
        self._execute("INSERT OR IGNORE INTO handled (digest) VALUES (?)", digest)
        self._execute("DELETE FROM handled WHERE number <= (SELECT max(number) FROM handled) - ?", MAX_HANDLED)

    def close(self) -> None:
        """Close the file, after the transaction that another thread may be in."""
        with self._changing:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def damaged(self, detail: object) -> PermanentSourceError:
        """Give the error that says that the file is no longer what was written, and what to do."""
        return PermanentSourceError(
            f"the keys in {self.path} are damaged ({detail}): restore the folder from a backup; or move it away and "
            "log in as a new device, which cannot read encrypted messages of before"
        )

    def _open(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = os.open(folder / "keys.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise TransientSourceError(f"another process holds the keys in {folder}") from None
        # SQLite gives its side files the mode of the file itself.
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        self._connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        for pragma in ("quick_check(1)", "journal_mode = WAL", "synchronous = FULL", "fullfsync = ON"):
            answer = self._execute(f"PRAGMA {pragma}")
            if pragma.startswith("quick_check") and answer != [("ok",)]:
                raise self.damaged("SQLite's check fails")
        kind = self._execute("PRAGMA application_id")[0][0], self._execute("PRAGMA user_version")[0][0]
        if kind == (0, 0) and not self._execute("SELECT 1 FROM sqlite_master"):
            self._connection.executescript(_TABLES)
        elif kind != (_APPLICATION, _VERSION):
            raise PermanentSourceError(f"{self.path} holds no keys that this version can use: move it away")

    def _belongs_to(self, user: str, device: str) -> None:
        owner = self.get("user"), self.get("device")
        if owner == (None, None):
            with self.transaction():
                self.put("user", user)
                self.put("device", device)
        elif owner != (user, device):
            words = f"the keys in {self.path} are those of device {owner[1]} of {owner[0]}, not of {device} of {user}"
            raise PermanentSourceError(f"{words}: log in as that device, or move the folder away")

    def _execute(self, statement: str, *values: object) -> list[Any]:
        if self._connection is None:
            raise TransientSourceError(f"the keys are closed: {self.path}")
        try:
            return self._connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise self._told(error) from None

    def _told(self, error: sqlite3.Error) -> SourceError:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code in _DAMAGED:
            return self.damaged(error)
        if code in _CLOSED_TO_US:
            return PermanentSourceError(f"the keys cannot be used: {self.path}: {error}")
        return TransientSourceError(f"the keys cannot be written: {self.path}: {error}")


def count_room_keys(folder: Path) -> int | None:
    """Say how many room keys the file in `folder` holds, beside whoever has it open; None when it cannot be read."""
    path = folder / FILE
    if not path.is_file():
        return None
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        try:
            found: int = connection.execute("SELECT count(*) FROM room_keys").fetchone()[0]
            return found
        finally:
            connection.close()
    except sqlite3.Error:
        return None
