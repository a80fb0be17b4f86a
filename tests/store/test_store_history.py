"""Decisions are kept as they were written: nothing changes or removes one, and their numbers have no holes."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa

from tests.support.stores import ANA, FERRY, decision, evidence, proposal
from triage.board.model import Action, Application, ApplicationOutcome, Decision, ProposalStatus
from triage.store.database import Store
from triage.store.errors import StoreError

FULL = decision(
    proposal_id=proposal().id,
    proposal_before=ProposalStatus.OPEN,
    proposal_after=ProposalStatus.APPROVED,
    deferred_until_ms=9,
    task_id="TASK-BUD-1",
    task_before={"id": "TASK-BUD-1", "zeta": 1, "alpha": [None, True, 0.5]},
    task_after={"id": "TASK-BUD-1", "status": "completed"},
    evidence_ids=("e1", "e2"),
    verification="VER-1",
    verification_status="passed",
    method="test",
    evidence_text="green",
    note="looked at it",
)


def test_a_decision_comes_back_with_every_member_in_the_order_in_which_it_was_written(store: Store):
    with store.write() as repository:
        repository.proposals.add(proposal(), "2026-11-30")
        stored = repository.decisions.append(FULL)
    with store.read() as repository:
        found = repository.decisions.get("d1")
    assert found == stored == dataclasses.replace(FULL, number=1)
    empty = [field.name for field in dataclasses.fields(Decision) if getattr(found, field.name) in (None, (), 0)]
    assert empty == []  # each member was put to the test
    assert found is not None
    assert found.task_before is not None
    assert list(found.task_before) == ["id", "zeta", "alpha"]


_CHANGES = {
    "sqlite": ("UPDATE {0} SET at_ms = 0", "DELETE FROM {0}", "INSERT OR REPLACE INTO {0} SELECT * FROM {0}"),
    "postgresql": ("UPDATE {0} SET at_ms = 0", "DELETE FROM {0}", "TRUNCATE {0} CASCADE"),
}


@pytest.mark.parametrize("table", ["decisions", "applications"])
@pytest.mark.parametrize("number", range(3))
def test_the_database_itself_refuses_to_change_history(store: Store, table: str, number: int):
    statement = _CHANGES[store._engine.dialect.name][number].format(table)
    with store.write() as repository:
        repository.decisions.append(decision(task_after={"id": "T"}))
        repository.decisions.record(Application(decision_id="d1", outcome=ApplicationOutcome.APPLIED, at_ms=6))
    with pytest.raises(sa.exc.DatabaseError, match="append-only"), store._engine.begin() as connection:
        connection.execute(sa.text(statement))
    with store.read() as repository:
        assert [d.at_ms for d in repository.decisions.history()] == [5]
        assert repository.decisions.application("d1") is not None


def test_deciders_at_the_same_time_get_numbers_without_holes_and_each_decision_is_to_be_told(store: Store):
    def decide(number: int) -> None:
        with store.write() as repository:
            repository.decisions.append(decision(f"d{number}"))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(decide, range(24)))
    with store.read() as repository:
        history = list(repository.decisions.history())
        assert [d.number for d in history] == list(range(1, 25))
        assert {d.id for d in history} == {f"d{number}" for number in range(24)}
        assert repository.decisions.untold(100) == history


def test_what_was_told_is_not_told_again(store: Store):
    with store.write() as repository:
        for name in ("d1", "d2", "d3"):
            repository.decisions.append(decision(name))
        repository.decisions.told([1, 2])
    with store.read() as repository:
        assert [d.id for d in repository.decisions.untold()] == ["d3"]


def test_decisions_that_change_a_board_wait_until_something_is_known_of_it(store: Store):
    with store.write() as repository:
        repository.decisions.append(decision("none"))
        repository.decisions.append(decision("task", task_after={"id": "T"}))
        repository.decisions.append(decision("check", action=Action.VERIFY))
        repository.decisions.append(decision("other", workspace="/elsewhere", task_after={"id": "T"}))
    with store.write() as repository:
        assert [d.id for d in repository.decisions.unapplied(FERRY)] == ["task", "check"]
        told = Application(decision_id="task", outcome=ApplicationOutcome.CONFLICT, at_ms=7, detail="changed meanwhile")
        repository.decisions.record(told)
        assert repository.decisions.application("task") == told
        assert [d.id for d in repository.decisions.unapplied(FERRY)] == ["check"]
    with pytest.raises(StoreError), store.write() as repository:
        repository.decisions.record(told)


def test_a_transaction_that_fails_leaves_nothing(store: Store):
    def broken_off() -> None:
        with store.write() as repository:
            repository.decisions.append(decision())
            raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        broken_off()
    with store.read() as repository:
        assert list(repository.decisions.history()) == []
        assert repository.decisions.untold() == []


def test_the_history_of_one_workspace_is_read_page_by_page(store: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("triage.store.decisions._PAGE", 2)
    with store.write() as repository:
        for number in range(5):
            repository.decisions.append(decision(f"d{number}", workspace=FERRY if number % 2 == 0 else "/other"))
    with store.read() as repository:
        assert [d.id for d in repository.decisions.history(FERRY)] == ["d0", "d2", "d4"]
        assert len(list(repository.decisions.history())) == 5


def test_a_proposal_of_a_person_comes_back_with_its_evidence(store: Store):
    given = proposal(
        evidence=(evidence(),), evidence_count=1, thread_count=1, draft={"b": 1, "a": 2}, priority="p1", task_id="T-1"
    )
    with store.write() as repository:
        assert repository.proposals.add(given, "2026-11-30")
        assert not repository.proposals.add(given, "2026-11-30")
    with store.read() as repository:
        assert repository.proposals.get(given.id) == given
        assert repository.proposals.latest(FERRY, given.kind, given.subject) == given
        assert repository.proposals.matching(given.id[:8]) == [given]
        assert repository.proposals.matching("%") == []


def test_a_proposal_moves_only_from_where_the_mover_saw_it(store: Store):
    given = proposal()
    with store.write() as repository:
        repository.proposals.add(given, "2026-11-30")
        moves = repository.proposals
        assert moves.move(given.id, ProposalStatus.OPEN, ProposalStatus.DEFERRED, 7, deferred_until_ms=99)
        assert not moves.move(given.id, ProposalStatus.OPEN, ProposalStatus.APPROVED, 8)
        found = moves.get(given.id, lock=True)
        assert found is not None
        assert (found.status, found.updated_ms, found.deferred_until_ms) == (ProposalStatus.DEFERRED, 7, 99)


def test_text_that_postgresql_cannot_hold_is_stored_without_it(store: Store):
    with store.write() as repository:
        repository.proposals.add(proposal(title="a\0b", evidence=(evidence(thread_id="t\0"),)), "2026-11-30")
        repository.decisions.append(decision(note="x\0y\ud800"))
    with store.read() as repository:
        (found,) = repository.proposals.listed()
        assert (found.title, found.evidence[0].thread_id) == ("a\ufffdb", "t\ufffd")
        assert next(iter(repository.decisions.history())).note == "x\ufffdy?"


def test_keys_are_kept_as_digests_and_a_revoked_one_names_nobody(store: Store):
    with store.write() as repository:
        kept = repository.keys.add("st_key-of-ana", ANA, 1)
        repository.keys.add("st_key-of-bo", ANA, 2)
    with store.write() as repository:
        assert repository.keys.actor("st_key-of-ana") == ANA
        assert repository.keys.actor("st_key-of-an") is None
        assert repository.keys.revoke(kept.fingerprint, 3) == 1
        assert repository.keys.revoke("", 3) == 0
        assert repository.keys.actor("st_key-of-ana") is None
        assert [key.revoked_ms for key in repository.keys.listed()] == [3, None]
    with store._engine.connect() as connection:
        rows = str(connection.execute(sa.text("SELECT * FROM api_keys")).all())
    assert "key-of-ana" not in rows
