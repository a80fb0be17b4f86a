"""The journal: what was written is there after any crash, and what is in the log never comes out of it again."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.chat import signal_journal
from adapters.chat.signal_journal import Journal
from adapters.chat.signal_wire import MAX_LINE_BYTES, Line, Splitter
from adapters.contract import MAX_SAMPLE_BYTES, PermanentSourceError, TransientSourceError


def line(raw: bytes) -> Line:
    return Line(raw, len(raw))


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "signal" / "ops.journal"


def opened(path: Path, identity: str = "", number: int = 0) -> Journal:
    journal = Journal(path)
    journal.open(identity, number)
    return journal


def raws(journal: Journal) -> list[bytes]:
    return [entry.line.raw for entry in journal.waiting]


def test_what_was_written_waits_after_a_crash(path) -> None:
    """Nothing is closed: the descriptor is lost, as with a process that is killed."""
    journal = opened(path)
    journal.append([line(b"a"), line(b"b")])
    os.close(journal._file)
    again = opened(path, journal.identity, 1)
    assert raws(again) == [b"b"]
    again.append([line(b"c")])
    assert [entry.number for entry in again.waiting] == [2, 3]
    again.close()


def test_the_file_is_emptied_when_nothing_waits_and_numbers_go_on(path) -> None:
    journal = opened(path)
    journal.append([line(b"a"), line(b"b")])
    size = path.stat().st_size
    journal.done(1)
    assert path.stat().st_size == size
    journal.done(2)
    assert path.stat().st_size < size
    journal.close()
    again = opened(path, journal.identity, 2)
    again.append([line(b"c")])
    assert [entry.number for entry in again.waiting] == [3]
    again.close()


def test_another_journal_gives_all_it_has(path) -> None:
    """A checkpoint that speaks of another file, from another machine, says nothing of this one."""
    journal = opened(path)
    journal.append([line(b"a")])
    journal.close()
    again = opened(path, "0" * 32, 900)
    assert raws(again) == [b"a"]
    again.close()


def test_half_an_entry_is_cut_off_and_told(path) -> None:
    journal = opened(path)
    journal.append([line(b"a"), line(b"long words")])
    journal.close()
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 4)
    again = opened(path)
    assert (raws(again), again.torn_bytes > 0) == ([b"a"], True)
    again.append([line(b"b")])
    again.close()
    assert raws(opened(path)) == [b"a", b"b"]


def test_a_damaged_entry_costs_itself(path) -> None:
    journal = opened(path)
    journal.append([line(b"first"), line(b"second"), line(b"third")])
    journal.close()
    path.write_bytes(path.read_bytes().replace(b"second", b"sXcond"))
    again = opened(path)
    assert [entry.damaged for entry in again.waiting] == [False, True, False]
    assert [entry.number for entry in again.waiting] == [1, 2, 3]


def test_another_file_is_left_alone(path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"something else\n")
    with pytest.raises(PermanentSourceError, match="no journal of this version"):
        opened(path)
    assert path.read_bytes() == b"something else\n"


def test_two_processes_do_not_share_a_journal(path) -> None:
    first = opened(path)
    with pytest.raises(TransientSourceError, match="another process holds"):
        opened(path)
    first.close()
    opened(path).close()


def test_only_its_owner_may_read_it(path) -> None:
    opened(path).close()
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_full_disk_costs_durability_and_no_entry(path, monkeypatch) -> None:
    """What could not be written waits in memory; half an entry does not stand before the next."""
    journal = opened(path)

    def write(file: int, data: bytes) -> int:
        os.pwrite(file, data[:3], path.stat().st_size)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(signal_journal, "_write", write)
    with pytest.raises(TransientSourceError, match="No space left"):
        journal.append([line(b"a")])
    monkeypatch.undo()
    journal.append([line(b"b")])
    assert raws(journal) == [b"a", b"b"]
    journal.close()
    assert raws(opened(path)) == [b"b"]


def test_too_much_is_full_and_batches_are_bounded(path, monkeypatch) -> None:
    monkeypatch.setattr(signal_journal, "MAX_WAITING_BYTES", 1000)
    monkeypatch.setattr(signal_journal, "BATCH_BYTES", 500)
    journal = opened(path)
    journal.append([line(b"x" * 600), line(b"y" * 100), line(b"z" * 400)])
    assert journal.full
    sizes = []
    while batch := journal.batch():
        sizes.append(len(batch))
        journal.done(batch[-1].number)
    assert (sizes, journal.full) == ([1, 2], False)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.binary(max_size=40)), st.lists(st.integers(0, 30)))
def test_lines_are_the_same_however_the_bytes_are_cut(parts: list[bytes], cuts: list[int]) -> None:
    lines = [part.replace(b"\n", b"") for part in parts]
    whole, splitter, found = b"".join(part + b"\n" for part in lines), Splitter(), []
    for cut in cuts:
        found += splitter.feed(whole[:cut])
        whole = whole[cut:]
    found += splitter.feed(whole)
    assert [part.raw for part in found] == [part for part in lines if part and not part.isspace()]


def test_a_line_without_an_end_takes_no_memory() -> None:
    splitter = Splitter()
    chunk = b"x" * (1 << 20)
    for _ in range(MAX_LINE_BYTES // len(chunk) + 2):
        assert splitter.feed(chunk) == []
    assert len(splitter._held) == MAX_SAMPLE_BYTES
    long, after = splitter.feed(b"\nnext\n")
    assert (long.whole, long.size > MAX_LINE_BYTES, after) == (False, True, line(b"next"))
