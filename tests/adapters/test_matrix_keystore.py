"""The file of a device's keys: for nobody else to read, one process at a time, and not used when it is not sound."""

import contextlib
import logging
import os
import sqlite3
import stat
import traceback
from pathlib import Path

import pytest

from adapters.chat import matrix_keystore
from adapters.chat.matrix_device import ONE_TIME_KEYS
from adapters.chat.matrix_keys import Keys, RefusedEventError
from adapters.chat.matrix_keystore import FILE, KeyStore, RoomKey
from adapters.contract import PermanentSourceError, SourceError, TransientSourceError
from tests.support.matrix_olm import ALICE, DEVICE, READER, ROOM, Reader, Sender, known_to, shared


@pytest.fixture
def alice() -> Sender:
    return Sender()


@pytest.fixture
def folder(tmp_path, alice) -> Path:
    """A folder with the keys of a device that was given one for a room, by alice."""
    reader = Reader(tmp_path / "keys")
    assert reader.take(shared(known_to(reader.server, alice))) == []
    reader.keys.close()
    return reader.folder


def refused(folder: Path, user: str = READER, device: str = DEVICE) -> str:
    with pytest.raises(PermanentSourceError) as told:
        Keys.open(folder, user, device)
    return str(told.value)


def test_nobody_else_can_read_it(folder) -> None:
    keys = Keys.open(folder, READER, DEVICE)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    files = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert files.keys() > {FILE, f"{FILE}-wal"}
    assert set(files.values()) == {0o600}
    keys.close()


@pytest.mark.parametrize("place", [0, 30, 5000, 9000])
def test_a_file_with_other_bytes_in_it_is_damaged(folder, place) -> None:
    with (folder / FILE).open("r+b") as file:
        file.seek(place)
        file.write(os.urandom(3000))
    assert "damaged" in refused(folder)
    assert "new device" in refused(folder)


def test_a_file_that_was_cut_is_damaged(folder) -> None:
    os.truncate(folder / FILE, 6000)
    assert "damaged" in refused(folder)


def test_a_file_of_something_else_is_left_alone(folder) -> None:
    (folder / FILE).write_bytes(b"my notes, none of SQLite's " * 50)
    assert "damaged" in refused(folder)
    (folder / FILE).unlink()
    with sqlite3.connect(folder / FILE) as other:
        other.execute("CREATE TABLE notes (words TEXT)")
    other.close()
    assert "no keys that this version can use" in refused(folder)
    with sqlite3.connect(folder / FILE) as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("notes",)]
    other.close()


def used(folder: Path, alice: Sender) -> str:
    """Use the account, the sessions and the room keys that are there."""
    keys = Keys.open(folder, READER, DEVICE)
    try:
        assert keys._olm.receive(alice.key_again(ROOM)) is False
        return keys.decrypt(ROOM, alice.say("words"))["content"]["body"]
    finally:
        keys.close()


@pytest.mark.parametrize("table", ["device", "olm_sessions", "room_keys"])
def test_a_secret_that_is_no_longer_what_it_was_is_damage(folder, alice, table) -> None:
    """SQLite finds the file sound, vodozemac does not."""
    assert used(folder, alice) == "words"
    column = "value = 'AAAA' WHERE name = 'account'" if table == "device" else "pickle = 'AAAA'"
    with sqlite3.connect(folder / FILE) as file:
        file.execute(f"UPDATE {table} SET {column}")  # noqa: S608 - no value
    file.close()
    with pytest.raises(PermanentSourceError, match="damaged"):
        used(folder, alice)


def test_keys_of_another_device_or_user_are_not_used(folder) -> None:
    words = refused(folder, device="OTHERDEV")
    assert DEVICE in words
    assert "OTHERDEV" in words
    assert "@other:hs.test" in refused(folder, user="@other:hs.test")
    Keys.open(folder, READER, DEVICE).close()


def test_one_process_at_a_time_has_them(folder) -> None:
    keys = Keys.open(folder, READER, DEVICE)
    with pytest.raises(TransientSourceError, match="another process"):
        Keys.open(folder, READER, DEVICE)
    keys.close()
    Keys.open(folder, READER, DEVICE).close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_is_told(tmp_path) -> None:
    tmp_path.chmod(0o500)
    assert "Permission denied" in refused(tmp_path / "keys")
    tmp_path.chmod(0o700)


def test_a_folder_that_is_a_file_is_told(tmp_path) -> None:
    (tmp_path / "keys").touch()
    assert "cannot be used" in refused(tmp_path / "keys")


def test_what_cannot_be_written_is_tried_again(tmp_path) -> None:
    """A full disk: nothing was stored, the server keeps the message, and it is taken when there is room again."""
    reader = Reader(tmp_path)
    key = shared(known_to(reader.server, Sender()))
    connection = reader.keys._store._connection
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")
    for number in range(100):  # what is left of pages that are there
        with contextlib.suppress(TransientSourceError), reader.keys._store.transaction():
            reader.keys._store.keep(RoomKey(str(number), ROOM, ALICE, "key", 0, "x" * 500))
    with pytest.raises(TransientSourceError, match="full"):
        reader.take(key)
    connection.execute("PRAGMA max_page_count = 100000")
    assert reader.take(key) == []
    assert reader.keys.arrived
    reader.keys.close()


def test_a_device_that_the_server_knows_otherwise_is_told(tmp_path) -> None:
    """The folder was lost, the login kept: nobody would share keys with the new ones under the old name."""
    reader = Reader(tmp_path / "lost")
    reader.folder = tmp_path / "new"
    reader.restart()
    with pytest.raises(PermanentSourceError, match="new device"):
        reader.take()
    assert len(reader.server.uploads("device_keys")) == 1
    reader.keys.close()


def test_sessions_and_handled_messages_are_bounded(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(matrix_keystore, "MAX_HANDLED", 3)
    store = KeyStore(tmp_path, READER, DEVICE)
    for number in range(9):
        store.save_session("a", f"a{number}", str(number))
        store.note_handled(bytes([number]))
    store.save_session("a", "a5", "again")
    store.save_session("b", "b1", "other")
    assert store.sessions("a") == ["again", "8", "7", "6", "4"]
    assert store.sessions("b") == ["other"]
    assert [store.is_handled(bytes([number])) for number in range(9)] == [False] * 6 + [True] * 3
    store.close()


def test_no_secret_is_shown(tmp_path, caplog) -> None:
    """Neither in reprs, nor in what is logged, warned of or raised, whatever goes wrong."""
    caplog.set_level(logging.DEBUG)
    reader = Reader(tmp_path)
    alice = known_to(reader.server, Sender())
    key = shared(alice)
    caplog.clear()
    said = reader.take(key, alice.carried(key["content"] | {"sender_key": "x"}), alice.key_again(ROOM, session_id="y"))
    event = alice.say("the plain words")
    errors = []
    for bad in (event | {"sender": "@x:y"}, event | {"content": event["content"] | {"algorithm": "z"}}):
        with pytest.raises(RefusedEventError) as told:
            reader.keys.decrypt(ROOM, bad)
        errors.append("".join(traceback.format_exception(told.value)))
    store = reader.keys._store
    rows = [row for name in ("device", "olm_sessions", "room_keys") for row in store._execute(f"SELECT * FROM {name}")]  # noqa: S608 - no value
    reprs = repr(
        [reader.keys, store, reader.keys._olm, reader.keys._device, *store.room_keys(event["content"]["session_id"])]
    )
    seen = "\n".join([*said, *errors, reprs, caplog.text])
    secrets = [value for row in rows for value in row if isinstance(value, str) and len(value) > 100]
    secrets += [alice.olm.outbound_group_sessions[ROOM].session_key, "the plain words", event["content"]["ciphertext"]]
    assert len(secrets) >= 6
    assert not [secret for secret in secrets if secret in seen or secret[:60] in seen]
    assert len(said) == 1
    reader.keys.close()


def test_an_upload_that_fails_is_told_and_costs_no_key(tmp_path) -> None:
    """Messages are read on; the next try comes after a pause, not with each answer."""
    reader = Reader(tmp_path)
    alice = known_to(reader.server, Sender())
    reader.server.one_time[READER, DEVICE].clear()
    reader.server.failing = TransientSourceError("the server is in trouble")
    assert ["in trouble" in words for words in reader.take(shared(alice))] == [True]
    assert reader.reads(alice.say("hi")) == "hi"
    calls = len(reader.server.calls)
    assert reader.take() == []
    assert len(reader.server.calls) == calls
    reader.server.failing = None
    reader.keys._device._not_before = 0.0
    assert reader.take() == []
    assert len(reader.server.one_time[READER, DEVICE]) == ONE_TIME_KEYS
    reader.server.failing = PermanentSourceError("log in anew")
    reader.server.one_time[READER, DEVICE].clear()
    with pytest.raises(SourceError, match="log in anew"):
        reader.take()
    reader.keys.close()
