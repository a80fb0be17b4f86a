"""Triage stores for tests: on each database, and values to put in them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.postgres import Postgres, require_postgres
from triage.board.model import Action, Actor, ActorKind, Decision, Evidence, Proposal, ProposalKind, proposal_id
from triage.store.database import Store

ANA = Actor("ana", ActorKind.OPERATOR)
FERRY = "/home/ana/ferry"


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL server for all tests of this process."""
    with Postgres(require_postgres()) as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str | Path:
    """Where an empty store may be made."""
    if request.param == "sqlite":
        return tmp_path / "triage.db"
    server: Postgres = request.getfixturevalue("postgres")
    return server.url()


@pytest.fixture
def store(place: str | Path) -> Iterator[Store]:
    """A store, once on each database."""
    with Store.open(place) as opened:
        yield opened


def evidence(event_id: str = "e1", rule: str = "idea-line", **members: Any) -> Evidence:
    """Make a piece of evidence."""
    whole = {"provider_account_key": "pi", "thread_id": "t1", "time_iso": "2026-11-30T09:00:00.000Z", "role": "user"}
    return Evidence(event_id=event_id, rule=rule, **{**whole, "words": "Idea: a bell at the slipway", **members})


def proposal(subject: str = "a bell", **members: Any) -> Proposal:
    """Make a proposal of ana's."""
    kind, workspace = members.pop("kind", ProposalKind.IDEA_PROMOTION), members.pop("workspace", FERRY)
    round_ = members.pop("round", 1)
    whole: dict[str, Any] = {"title": "A bell at the slipway", "why": "asked for", "created_ms": 1, "updated_ms": 1}
    return Proposal(
        id=proposal_id(workspace, kind, subject, round_),
        workspace=workspace,
        kind=kind,
        subject=subject,
        proposed_by=ANA,
        round=round_,
        **{**whole, **members},
    )


def decision(identifier: str = "d1", **members: Any) -> Decision:
    """Make a decision of ana's."""
    whole: dict[str, Any] = {"workspace": FERRY, "actor": ANA, "action": Action.APPROVE, "at_ms": 5}
    return Decision(id=identifier, **{**whole, **members})
