"""Parts of the report about proposals, all of them additions to the origin's."""

from msgspec import UNSET, Struct, UnsetType

from triage.report.model_parts import Evidence


class Quotation(Evidence, rename="camel", kw_only=True):
    """Words that speak for a proposal: `rule` found them, with a `confidence` from 0 to 1."""

    rule: str
    confidence: float


class ProposalItem(Struct, rename="camel", kw_only=True):
    """One proposal that waits for a decision; `why` is the rule's reason in a line.

    `evidence` is newest first and bounded; `evidence_count` and `thread_count` say how much there is, and how many
    conversations speak of it. `since` is when the first of it came.
    """

    id: str
    kind: str
    title: str
    why: str
    workspace: str
    since: str
    updated_at: str
    evidence_count: int
    thread_count: int
    evidence: list[Quotation]
    task_id: str | UnsetType = UNSET
    priority: str | UnsetType = UNSET


class ProposalSections(Struct, rename="camel", kw_only=True):
    """Open proposals in the order in which to look at them: blocked and p0 first, then age, then threads.

    `store` says where they are kept, null where there is no store; `held_back` wait behind a daily limit.
    """

    store: str | None = None
    unlock_now: list[ProposalItem] = []
    later: list[ProposalItem] = []
    held_back: int = 0
