"""Each record is applied once: what a batch changes and where the reader stands are one transaction of the store."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ingest.log.contract import NewRecord, Topic
from schemas.event import encode
from tests.support.consumer import ALL, Bench, records_of, shape
from tests.support.log import quick_folder
from tests.support.triage import event
from triage.batch import _RULES, apply
from triage.proposals.text_rules import in_message
from triage.reader import GROUP
from triage.store.database import Store
from triage.store.errors import TurnLostError


def ideas(count: int) -> list[NewRecord]:
    return records_of(event(f"- idea: {n // 2} bells", "user", thread=f"t{n % 7}") for n in range(count))


def test_a_reader_that_starts_again_goes_on_where_the_store_stands(bench: Bench):
    bench.take(ideas(4))
    bench.open()
    assert bench.work() == 0
    bench.log.append(ideas(6))
    assert bench.work() == 6
    assert sorted(p.evidence_count for p in bench.proposals(ALL)) == [2, 4, 4]


def test_the_log_is_told_how_far_the_group_has_come(bench: Bench):
    assert {(g.group, g.topic, g.committed) for g in bench.log.status().groups} == {
        (GROUP, topic, 0) for topic in (Topic.EVENTS, Topic.SIGNALS, Topic.SUMMARIES)
    }
    bench.take(ideas(4))
    assert bench.log.committed(GROUP, Topic.EVENTS) == 4
    assert bench.reader.lag() == 0


def test_what_the_log_was_not_told_is_not_applied_twice(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bench.log, "commit_offset", lambda *_: (_ for _ in ()).throw(OSError("power cut")))
    bench.log.append(ideas(4))
    with pytest.raises(OSError, match="power cut"):
        bench.reader.step()
    monkeypatch.undo()
    bench.open()
    assert bench.work() == 0
    assert [p.evidence_count for p in bench.proposals()] == [2, 2]


def test_a_batch_that_fails_leaves_nothing_and_is_tried_again(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    bench.log.append(ideas(4))

    def broken_off(*arguments: object) -> None:
        apply(*arguments)  # type: ignore[arg-type]
        raise RuntimeError("power cut")

    monkeypatch.setattr("triage.reader.apply", broken_off)
    with pytest.raises(RuntimeError):
        bench.reader.step()
    assert bench.proposals(ALL) == []
    monkeypatch.undo()
    bench.work()
    assert len(bench.proposals(ALL)) == 2


def test_an_older_reader_is_fenced_by_a_newer_one(bench: Bench):
    older = bench.reader
    bench.open()
    bench.log.append(ideas(4))
    with pytest.raises(TurnLostError, match="another process has taken over"):
        older.step()
    assert bench.proposals(ALL) == []
    assert bench.work() == 4


def test_another_log_is_read_from_its_beginning_and_adds_what_is_new(bench: Bench, tmp_path: Path):
    bench.take(ideas(6))
    (tmp_path / "new").mkdir()
    other = Bench(tmp_path / "new", bench.store)
    other.take(records_of([event("- idea: a crane", "user", thread="t9")]))
    assert len(other.proposals(ALL)) == 4
    other.log.close()


def test_a_log_that_was_made_anew_in_its_place_is_read_from_its_beginning(bench: Bench):
    bench.take(ideas(6))
    path = bench.log.path
    bench.log.close()
    for file in path.parent.glob("log.db*"):
        file.unlink()
    new = Bench(path.parent, bench.store)
    new.log.append(records_of([event("- idea: a crane", "user")]))
    new.open()
    new.work()
    assert len(new.proposals(ALL)) == 4
    new.log.close()


def test_a_record_that_is_no_event_costs_itself(bench: Bench):
    good = ideas(2)
    bench.log.append([NewRecord(Topic.EVENTS, "k", b"no json"), *good, NewRecord(Topic.SIGNALS, "k", b"{}")])
    applied = bench.reader.step()
    assert applied is not None
    assert (applied.records, dict(applied.rejected)) == (4, {"invalid-event": 2})
    assert len(bench.proposals()) == 1


def test_a_record_that_a_rule_fails_on_costs_itself(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    def faulty(one, at_ms):
        if one.event.id == "poison":
            raise ZeroDivisionError("a fault in the program")
        return []

    monkeypatch.setitem(_RULES, Topic.EVENTS, faulty)
    bench.log.append(records_of([event("a"), event("b", id="poison"), event("c")]))
    applied = bench.reader.step()
    assert applied is not None
    assert (applied.records, dict(applied.rejected)) == (3, {"rule-failed": 1})


def test_a_record_that_the_database_refuses_costs_itself(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    bench = Bench(tmp_path, store)
    bench.log.append(records_of([event("- idea: one", "user", id=n) for n in ("a", "poison", "c")]))

    def oversized(one, at_ms):
        for finding in in_message(one, at_ms):
            if one.event.id == "poison":  # a time that is null: both databases refuse it
                object.__setattr__(finding.evidence, "time_iso", None)
                object.__setattr__(finding, "subject", "poisoned")
            yield finding

    monkeypatch.setitem(_RULES, Topic.EVENTS, oversized)
    monkeypatch.setattr("triage.store.findings._order", lambda finding: finding.evidence.event_id)
    applied = bench.reader.step()
    assert applied is not None
    assert (applied.records, dict(applied.rejected)) == (3, {"not-storable": 1})
    assert [p.evidence_count for p in bench.proposals(ALL)] == [2]
    assert bench.work() == 0
    bench.log.close()


_VICTIM = """
import sys
from pathlib import Path
import triage.reader
from ingest.log.embedded import EmbeddedLog
from triage.store.database import Store
triage.reader.BATCH_RECORDS = 20
folder = Path(sys.argv[1])
with EmbeddedLog.open(folder / "log.db") as log, Store.open(folder / "triage.db") as store:
    reader = triage.reader.Reader(log, store, "victim")
    print("reads", flush=True)
    while reader.step():
        pass
    print("done", flush=True)
"""


def test_a_reader_that_is_killed_again_and_again_applies_each_record_once():
    """`kill -9` at random moments; what is there in the end is what one undisturbed reader makes of it."""
    records = ideas(600)
    with quick_folder() as folder:
        reference = Bench(folder, name="reference")
        reference.take(records)
        wanted = shape(reference.proposals(ALL))
        reference.close()
        (folder / "killed").mkdir()
        bench = Bench(folder / "killed")
        bench.log.append(records)
        kills, draw = 0, random.Random(7)
        for _ in range(12):
            victim = subprocess.Popen(
                [sys.executable, "-c", _VICTIM, str(folder / "killed")], stdout=subprocess.PIPE, text=True
            )
            assert victim.stdout is not None
            assert victim.stdout.readline() == "reads\n"
            time.sleep(draw.uniform(0.0, 0.25))
            os.kill(victim.pid, signal.SIGKILL)
            rest = victim.stdout.read()
            victim.stdout.close()
            victim.wait()
            kills += 1
            if "done" in rest:
                break
        assert kills > 1
        bench.open()
        bench.work()
        assert shape(bench.proposals(ALL)) == wanted
        assert sum(p.evidence_count for p in bench.proposals(ALL)) == 600
        bench.close()


def test_a_records_key_mixes_no_threads(bench: Bench):
    """The reader goes by what the event says, not by the record's key: a key that is wrong mixes no threads."""
    said = event("- idea: a bell", "user", thread="right")
    bench.take([NewRecord(Topic.EVENTS, "wrong/key", encode(said))])
    (found,) = bench.proposals()
    assert found.evidence[0].thread_id == "right"
