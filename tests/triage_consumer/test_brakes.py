"""The backlog does not grow past what a person reads: limits, folding, rounds, and expiry with a record."""

from pathlib import Path

import pytest

from ingest.log.contract import Topic
from schemas.event import CanonicalEvent, decode
from tests.support.consumer import ALL, NOW_MS, Bench
from tests.support.stores import decision
from tests.support.triage import event
from triage.board.model import ActorKind, ProposalStatus
from triage.chores import SETTLED_AFTER, STALE_AFTER, tell, tidy
from triage.store.database import Store
from triage.store.findings import MAX_A_DAY, QUIET_AFTER
from triage.store.proposals import Wanted

DAY_MS = 24 * 3600 * 1000


@pytest.fixture
def bench(store: Store, tmp_path: Path):
    """Give a bench on each database."""
    bench = Bench(tmp_path, store)
    yield bench
    bench.log.close()


def idea(words: str, **members: object) -> CanonicalEvent:
    return event(f"- idea: {words}", "user", **members)


def blocked(hours: float, **members: object) -> CanonicalEvent:
    return event("Blocked: TASK-BUD-9 needs a key", hours=hours, **members)


def decide(bench: Bench, status: ProposalStatus, at_ms: int) -> str:
    (found,) = bench.proposals()
    with bench.store.write() as repository:
        assert repository.proposals.move(found.id, found.status, status, at_ms)
    return found.id


def test_a_source_shows_so_many_proposals_of_a_kind_a_day_and_the_rest_waits(bench: Bench):
    bench.hear(*(idea(f"bell {n}") for n in range(MAX_A_DAY + 5)), idea("of another", provider="codex"))
    assert len(bench.proposals()) == MAX_A_DAY + 1
    with bench.store.read() as repository:
        assert repository.proposals.count_held() == 5
    assert len(bench.proposals(Wanted(held=True))) == MAX_A_DAY + 6


def test_what_was_held_back_is_shown_when_a_day_has_room(bench: Bench):
    bench.hear(*(idea(f"bell {n}") for n in range(2 * MAX_A_DAY + 5)))
    assert tidy(bench.store, NOW_MS) == (0, 0)
    assert tidy(bench.store, NOW_MS + DAY_MS) == (0, MAX_A_DAY)
    assert tidy(bench.store, NOW_MS + DAY_MS) == (0, 0)
    assert tidy(bench.store, NOW_MS + 2 * DAY_MS) == (0, 5)
    assert len(bench.proposals()) == 2 * MAX_A_DAY + 5


def test_evidence_joins_what_is_held_back_as_well(bench: Bench):
    bench.hear(*(idea(f"bell {n}") for n in range(MAX_A_DAY + 1)))
    (held,) = [p for p in bench.proposals(ALL) if p.id not in {shown.id for shown in bench.proposals()}]
    bench.hear(idea(held.title, thread="t2"))
    again = next(p for p in bench.proposals(ALL) if p.id == held.id)
    assert (again.evidence_count, again.thread_count) == (2, 2)


def test_later_evidence_joins_an_open_and_a_deferred_proposal(bench: Bench):
    bench.hear(blocked(5))
    identifier = decide(bench, ProposalStatus.DEFERRED, NOW_MS)
    bench.hear(blocked(1, thread="t2"))
    (found,) = bench.proposals()
    assert (found.id, found.status, found.evidence_count) == (identifier, ProposalStatus.DEFERRED, 2)


@pytest.mark.parametrize("status", [ProposalStatus.APPROVED, ProposalStatus.REJECTED, ProposalStatus.EXPIRED])
def test_the_same_evidence_never_makes_a_second_proposal(bench: Bench, status: ProposalStatus):
    said = blocked(5)
    bench.hear(said)
    decide(bench, status, NOW_MS)
    bench.hear(said)
    assert [p.status for p in bench.proposals(ALL)] == [status]


def test_what_is_said_after_a_decision_begins_the_next_round_and_what_was_said_before_does_not(bench: Bench):
    bench.hear(blocked(5))
    first = decide(bench, ProposalStatus.REJECTED, NOW_MS - 3 * 3600 * 1000)
    bench.hear(blocked(4, thread="t2"))
    assert [p.id for p in bench.proposals(ALL)] == [first]
    assert bench.proposals(ALL)[0].evidence_count == 2
    bench.hear(blocked(1, thread="t3"))
    rounds = sorted((p.round, p.status) for p in bench.proposals(ALL))
    assert rounds == [(1, ProposalStatus.REJECTED), (2, ProposalStatus.OPEN)]


def test_an_idea_that_became_a_task_is_never_proposed_again(bench: Bench):
    bench.hear(idea("a bell", hours=5))
    decide(bench, ProposalStatus.APPROVED, NOW_MS - 4 * 3600 * 1000)
    bench.hear(idea("a bell", hours=1), idea("a bell", hours=-24 * 60))
    assert [(p.status, p.evidence_count) for p in bench.proposals(ALL)] == [(ProposalStatus.APPROVED, 3)]


def test_an_idea_that_was_rejected_is_no_news_for_a_while(bench: Bench):
    bench.hear(idea("a bell", hours=5))
    decide(bench, ProposalStatus.REJECTED, NOW_MS)
    quiet = QUIET_AFTER.total_seconds() / 3600
    bench.hear(idea("a bell", hours=-quiet + 1))
    assert len(bench.proposals(ALL)) == 1
    bench.hear(idea("a bell", hours=-quiet - 1))
    assert sorted(p.round for p in bench.proposals(ALL)) == [1, 2]


def test_what_nobody_speaks_of_for_a_month_expires_with_a_record(bench: Bench):
    bench.hear(idea("a bell"))
    month = int(STALE_AFTER.total_seconds() * 1000)
    assert tidy(bench.store, NOW_MS + month)[0] == 0
    assert tidy(bench.store, NOW_MS + month + 1)[0] == 1
    (found,) = bench.proposals(ALL)
    assert found.status is ProposalStatus.EXPIRED
    with bench.store.read() as repository:
        (record,) = repository.decisions.history()
    assert (record.proposal_id, record.actor.kind) == (found.id, ActorKind.SYSTEM)
    assert (record.proposal_before, record.proposal_after) == (ProposalStatus.OPEN, ProposalStatus.EXPIRED)
    assert record.note == "nothing has been said of it for a month"
    assert record.evidence_ids == (found.evidence[0].event_id,)
    assert tidy(bench.store, NOW_MS + 2 * month)[0] == 0


def test_what_settled_itself_expires_after_a_day_with_a_record(bench: Bench):
    bench.hear(blocked(3), event("here it is", "user", hours=2))
    day = int(SETTLED_AFTER.total_seconds() * 1000)
    assert tidy(bench.store, NOW_MS + day)[0] == 0
    assert tidy(bench.store, NOW_MS + day + 1)[0] == 1
    with bench.store.read() as repository:
        (record,) = repository.decisions.history()
    assert record.note == "what it waited for has happened since"


def test_a_decision_is_told_as_a_canonical_event_once(bench: Bench):
    bench.hear(idea("a bell"))
    (found,) = bench.proposals()
    with bench.store.write() as repository:
        repository.decisions.append(decision(proposal_id=found.id, task_id="TASK-1", note="Grün\x1b[31m"))
    assert tell(bench.store, bench.log) == 1
    assert tell(bench.store, bench.log) == 0
    (record,) = bench.told()
    told = decode(record.value)
    assert (told.event.type, told.event.role, told.event.labels) == (
        "status",
        "operator",
        ["decision", "decision:approve"],
    )
    assert told.event.refs is not None
    assert told.event.refs.task_ids == ["TASK-1"]
    assert told.source.thread_id == f"proposal/{found.id}"
    assert told.event.text.startswith("ana: approve TASK-1\n")


def test_a_decision_that_is_told_again_after_a_crash_has_the_same_id(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    with bench.store.write() as repository:
        repository.decisions.append(decision())
    monkeypatch.setattr("triage.store.decisions.Decisions.told", lambda *_: (_ for _ in ()).throw(OSError("cut")))
    with pytest.raises(OSError, match="cut"):
        tell(bench.store, bench.log)
    monkeypatch.undo()
    assert tell(bench.store, bench.log) == 1
    first, second = (decode(record.value).event.id for record in bench.log.read(Topic.DECISIONS, 0, 10, 2**20))
    assert first == second


def test_the_triage_does_not_read_what_it_tells(bench: Bench):
    with bench.store.write() as repository:
        repository.decisions.append(decision(note="- idea: a bell"))
    tell(bench.store, bench.log)
    assert (bench.work(), bench.proposals(ALL)) == (0, [])
