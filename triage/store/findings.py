"""Folds findings into proposals: each piece of evidence once, similar ones together, no more a day than a person reads.

A finding whose evidence is known changes nothing, whatever became of the proposal. Others join the proposal of their
subject while it waits for a decision; after one they begin the subject's next round, unless they say nothing new
(`_is_news`). What a source proposes above its daily limit is kept and held back until a day has room for it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

import sqlalchemy as sa

from ingest.processors.times import to_ms
from triage.board.model import SYSTEM, Proposal, ProposalKind, ProposalStatus, proposal_id
from triage.proposals.finding import Finding
from triage.store.keys import thread_digest
from triage.store.proposals import WAITING
from triage.store.rows import evidence_row, proposal_row, storable
from triage.store.tables import evidence, proposals

MAX_A_DAY: Final = 10
"""New proposals of one kind from one source that are shown in a day: what a person decides on in one go."""

QUIET_AFTER: Final = timedelta(days=30)
"""So long after somebody has said no to an idea, a task or a claim, saying it again is no news."""

_CHUNK: Final = 300

_ADDS: Final = frozenset({ProposalKind.NEW_TASK, ProposalKind.IDEA_PROMOTION, ProposalKind.TOOLING_CLAIM})
"""Kinds that an approval turns into a task: once there is one, the same words are no news at all."""


@dataclass(slots=True)
class Folded:
    """What came of a batch of findings: pieces of evidence that were new, and proposals by kind that were."""

    evidence: int = 0
    proposals: Counter[str] = field(default_factory=Counter)
    held: int = 0


@dataclass(slots=True)
class _Round:
    """The last round of a subject, as it stands in the store or as it will."""

    id: str
    round: int
    status: str
    decided_ms: int


class Findings:
    """Findings on their way into the proposals of one transaction."""

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection

    def fold(self, findings: Iterable[Finding], day: str) -> Folded:
        """Fold findings in; `day` is today, as in `2026-01-31`."""
        folded = Folded()
        fresh = self._fresh(findings)
        rounds = self._rounds(fresh)
        joined: dict[str, list[Finding]] = defaultdict(list)
        new: dict[str, Finding] = {}
        for finding in fresh:
            known = rounds.get(finding.series)
            if known is None or _is_news(finding, known):
                known = rounds[finding.series] = _next_round(finding, known)
                new[known.id] = finding
            joined[known.id].append(finding)
        self._add(new, rounds, day, folded)
        self._join(joined, folded)
        return folded

    def release(self, day: str) -> int:
        """Show proposals that a daily limit has held back, the oldest first, as far as today has room; how many."""
        room = self._room(day)
        held = (
            sa.select(proposals.c.id, proposals.c.source, proposals.c.kind)
            .where(proposals.c.shown_day.is_(None), proposals.c.status.in_(WAITING))
            .order_by(proposals.c.created_ms, proposals.c.id)
        )
        shown = []
        for identifier, source, kind in self._connection.execute(held).all():
            if room[source, kind] < MAX_A_DAY:
                room[source, kind] += 1
                shown.append(identifier)
        for start in range(0, len(shown), _CHUNK):
            chosen = proposals.c.id.in_(shown[start : start + _CHUNK])
            self._connection.execute(sa.update(proposals).where(chosen).values(shown_day=day))
        return len(shown)

    def _fresh(self, findings: Iterable[Finding]) -> list[Finding]:
        """Give findings whose evidence is not known, each once, in the order in which things were said."""
        by_key = {(f.evidence.event_id, f.evidence.rule, f.series): f for f in findings}
        events = list({event for event, _, _ in by_key})
        for start in range(0, len(events), _CHUNK):
            chosen = evidence.c.event_id.in_([storable(event) for event in events[start : start + _CHUNK]])
            known = sa.select(evidence.c.event_id, evidence.c.rule, evidence.c.series).where(chosen)
            for event, rule, series in self._connection.execute(known):
                by_key.pop((event, rule, series), None)
        return sorted(by_key.values(), key=_order)

    def _rounds(self, findings: Sequence[Finding]) -> dict[str, _Round]:
        """Give the last round of each subject; nobody decides on it until the transaction ends."""
        wanted = sorted({finding.series for finding in findings})
        rounds: dict[str, _Round] = {}
        for start in range(0, len(wanted), _CHUNK):
            columns = (
                proposals.c.series,
                proposals.c.id,
                proposals.c.round,
                proposals.c.status,
                proposals.c.updated_ms,
            )
            chosen = sa.select(*columns).where(proposals.c.series.in_(wanted[start : start + _CHUNK]))
            for row in self._connection.execute(chosen.order_by(proposals.c.round).with_for_update()):
                rounds[row.series] = _Round(row.id, row.round, row.status, row.updated_ms)
        return rounds

    def _room(self, day: str) -> Counter[tuple[str, str]]:
        """Give how many proposals were shown on a day, by source and kind."""
        count = sa.select(proposals.c.source, proposals.c.kind, sa.func.count()).where(proposals.c.shown_day == day)
        grouped = self._connection.execute(count.group_by(proposals.c.source, proposals.c.kind))
        return Counter({(source, kind): shown for source, kind, shown in grouped})

    def _add(self, new: dict[str, Finding], rounds: dict[str, _Round], day: str, folded: Folded) -> None:
        if not new:
            return
        room = self._room(day)
        rows = []
        for identifier, finding in new.items():
            place = (storable(finding.source), finding.kind.value)
            is_shown = room[place] < MAX_A_DAY
            room[place] += is_shown
            folded.proposals[finding.kind.value] += 1
            folded.held += not is_shown
            proposal = _proposal(identifier, finding, rounds[finding.series].round)
            rows.append({**proposal_row(proposal), "source": place[0], "shown_day": day if is_shown else None})
        self._connection.execute(sa.insert(proposals), rows)

    def _join(self, joined: dict[str, list[Finding]], folded: Folded) -> None:
        changes: list[dict[str, Any]] = []
        known = self._known_threads(joined)
        rows = []
        for identifier, findings in joined.items():
            found = {thread_digest(f.evidence.provider_account_key, f.evidence.thread_id) for f in findings}
            rows += [evidence_row(f.evidence, f.series, identifier, f.settled_by) for f in findings]
            changes.append(
                {
                    "of": identifier,
                    "more": len(findings),
                    "threads": len(found - known[identifier]),
                    "at": max(finding.at_ms for finding in findings),
                }
            )
        if not rows:
            return
        self._connection.execute(sa.insert(evidence), rows)
        self._connection.execute(_COUNT, changes)
        folded.evidence += len(rows)

    def _known_threads(self, joined: dict[str, list[Finding]]) -> dict[str, set[bytes]]:
        """Give, of the threads that speak for proposals now, those that did before."""
        known: dict[str, set[bytes]] = defaultdict(set)
        ids = list(joined)
        for start in range(0, len(ids), _CHUNK):
            chunk = ids[start : start + _CHUNK]
            found = {
                thread_digest(f.evidence.provider_account_key, f.evidence.thread_id) for i in chunk for f in joined[i]
            }
            for row in self._connection.execute(_speaking(chunk, list(found))):
                known[row.proposal_id].add(bytes(row.thread))
        return known


def _order(finding: Finding) -> tuple[str, str, str]:
    return finding.evidence.time_iso, finding.evidence.event_id, finding.series


def _speaking(ids: Sequence[str], threads: Sequence[bytes]) -> sa.Select[Any]:
    """Give the statement for which of those threads speak for which of those proposals."""
    chosen = sa.select(evidence.c.proposal_id, evidence.c.thread).distinct().where(evidence.c.proposal_id.in_(ids))
    # PostgreSQL and SQLite both take thousands of values; beyond, all threads of these proposals are read.
    return chosen.where(evidence.c.thread.in_(threads)) if len(threads) <= 10 * _CHUNK else chosen


_AT: Final = sa.bindparam("at", type_=sa.BigInteger)
_WAITS: Final = sa.or_(*(proposals.c.status == status.value for status in WAITING))
_COUNT: Final = (
    sa.update(proposals)
    .where(proposals.c.id == sa.bindparam("of"))
    .values(
        evidence_count=proposals.c.evidence_count + sa.bindparam("more", type_=sa.Integer),
        thread_count=proposals.c.thread_count + sa.bindparam("threads", type_=sa.Integer),
        # What waits has the time of its last evidence, what is decided keeps that of its decision.
        updated_ms=sa.case((_WAITS & (proposals.c.updated_ms < _AT), _AT), else_=proposals.c.updated_ms),
    )
)


def _is_news(finding: Finding, decided: _Round) -> bool:
    """Whether words for a subject that was proposed before begin a new round."""
    if ProposalStatus(decided.status) in WAITING:
        return False
    said_ms = to_ms(finding.evidence.time_iso)
    if finding.kind not in _ADDS:
        return said_ms > decided.decided_ms
    if decided.status == ProposalStatus.APPROVED:
        return False
    return said_ms > decided.decided_ms + QUIET_AFTER // timedelta(milliseconds=1)


def _next_round(finding: Finding, known: _Round | None) -> _Round:
    number = known.round + 1 if known else 1
    identifier = proposal_id(finding.workspace, finding.kind, finding.subject, number)
    return _Round(identifier, number, ProposalStatus.OPEN, finding.at_ms)


def _proposal(identifier: str, finding: Finding, round_: int) -> Proposal:
    return Proposal(
        id=identifier,
        workspace=finding.workspace,
        kind=finding.kind,
        subject=finding.subject,
        round=round_,
        title=finding.title,
        why=finding.why,
        task_id=finding.task_id,
        draft=finding.draft,
        proposed_by=SYSTEM,
        created_ms=finding.at_ms,
        updated_ms=finding.at_ms,
    )
