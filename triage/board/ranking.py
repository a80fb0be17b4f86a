"""The order in which proposals are shown: what holds work up first, then what has waited longest."""

from typing import Final

from triage.board.model import Proposal, ProposalKind

_URGENT_KINDS: Final = frozenset({ProposalKind.UNBLOCK, ProposalKind.RECOVERY})
_URGENT_PRIORITY: Final = "p0"


def is_urgent(proposal: Proposal) -> bool:
    """Whether a proposal belongs to what to unlock now: it is about blocked work, or of priority p0."""
    return proposal.kind in _URGENT_KINDS or (proposal.priority or "").strip().lower() == _URGENT_PRIORITY


def rank(proposal: Proposal) -> tuple[bool, int, int, str]:
    """Give what to sort by: blocked and p0 first, then the oldest, then the one of most threads."""
    return not is_urgent(proposal), proposal.created_ms, -proposal.thread_count, proposal.id
