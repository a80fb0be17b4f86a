"""What peers get wrong, through the real daemon on growing files: branches, forks, restores, torn and slow lines."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.log.contract import Topic
from ingest.log.embedded import EmbeddedLog
from schemas.event import CanonicalEvent, decode
from tests.support.commands import Daemon, wait_for

HEAD = {"type": "session", "version": 3, "id": "s1", "timestamp": "2026-01-02T03:04:05.000Z", "cwd": "/w"}


def line(**members) -> bytes:
    return json.dumps(members).encode() + b"\n"


def entry(identity: str, parent: str | None, words: str, second: int, role: str = "user") -> bytes:
    time = f"2026-01-02T03:05:{second:02d}.000Z"
    message = {"role": role, "content": [{"type": "text", "text": words}], "timestamp": 1767323100000 + second * 1000}
    return line(type="message", id=identity, parentId=parent, timestamp=time, message=message)


class Live:
    """A daemon, the folder it follows, and what came out of it."""

    def __init__(self, home: Path) -> None:
        self.folder = home / ".pi" / "agent" / "sessions" / "--w--"
        self.folder.mkdir(parents=True)
        self.daemon = Daemon(home)
        self.daemon.wait_ready()

    def events(self, topic: Topic = Topic.EVENTS) -> list[CanonicalEvent]:
        with EmbeddedLog.open(self.daemon.state / "log.db", read_only=True) as log:
            return [decode(record.value) for record in log.read(topic, 0, 10_000, 2**30)]

    def rejected(self) -> int:
        with EmbeddedLog.open(self.daemon.state / "log.db", read_only=True) as log:
            return log.end_offset(Topic.REJECTED)

    def texts(self) -> list[str]:
        return [event.event.text for event in self.events()]

    def wait_for_texts(self, *texts: str) -> None:
        wait_for(f"{texts}", lambda: self.texts() == list(texts))


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    live = Live(tmp_path)
    yield live
    assert live.daemon.stop() == 0


def test_two_branches_in_one_file_are_both_kept_and_one_is_live(live: Live) -> None:
    """The first line of descent has no branch, the second child of one parent opens one (E35)."""
    path = live.folder / "a.jsonl"
    path.write_bytes(line(**HEAD) + entry("a", None, "name it", 1) + entry("b", "a", "first", 2, "assistant"))
    live.wait_for_texts("name it", "first")
    with path.open("ab") as stream:
        stream.write(entry("c", "a", "second", 3, "assistant") + entry("d", "c", "thanks", 4))
    live.wait_for_texts("name it", "first", "second", "thanks")
    assert [event.source.branch_id for event in live.events()] == [None, None, "c", "c"]


def test_a_fork_that_copies_entries_gives_each_once(live: Live) -> None:
    """Copies keep the thread that showed them first; what is new belongs to the fork (B8)."""
    old = entry("a", None, "where", 1) + entry("b", "a", "there", 2, "assistant")
    (live.folder / "2026-01-02T03-04-05-000Z_s1.jsonl").write_bytes(line(**HEAD) + old)
    live.wait_for_texts("where", "there")
    fork = line(**{**HEAD, "id": "s2", "parentSession": "s1.jsonl"}) + old + entry("c", "b", "and then", 3)
    (live.folder / "2026-01-02T04-04-05-000Z_s2.jsonl").write_bytes(fork)
    live.wait_for_texts("where", "there", "and then")
    assert [event.source.thread_id for event in live.events()] == ["s1", "s1", "s2"]


def test_a_file_cut_shorter_by_a_restore_loses_and_doubles_nothing(live: Live) -> None:
    """What was emitted stays; what comes after the cut is read."""
    path = live.folder / "a.jsonl"
    kept = line(**HEAD) + entry("a", None, "one", 1) + entry("b", "a", "two", 2)
    path.write_bytes(kept + entry("c", "b", "three", 3) + entry("d", "c", "four", 4))
    live.wait_for_texts("one", "two", "three", "four")
    path.write_bytes(kept)
    with path.open("ab") as stream:
        stream.write(entry("e", "b", "five", 5))
    live.wait_for_texts("one", "two", "three", "four", "five")


def test_a_torn_line_glued_to_a_good_one_costs_only_itself(live: Live) -> None:
    """The good one is recovered, the torn one counted (B1)."""
    path = live.folder / "a.jsonl"
    torn = entry("b", "a", "lost", 2)[:40]
    path.write_bytes(line(**HEAD) + entry("a", None, "one", 1) + torn + entry("c", "b", "three", 3))
    live.wait_for_texts("one", "three")
    assert live.rejected() == 1


def test_append_after_append_after_append(live: Live) -> None:
    """Each is there before the next is written, and only then; a line in two halves is one event."""
    path = live.folder / "a.jsonl"
    path.write_bytes(line(**HEAD))
    said: list[str] = []
    for number in range(1, 6):
        whole = entry(f"e{number}", f"e{number - 1}", f"words {number}", number)
        with path.open("ab", buffering=0) as stream:
            stream.write(whole[:50])
            live.wait_for_texts(*said)
            stream.write(whole[50:])
        said.append(f"words {number}")
        live.wait_for_texts(*said)
