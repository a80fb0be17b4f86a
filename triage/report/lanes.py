"""Which lane to delegate in, and what to do about gaps in the tools.

Source: formats/session-triage-origin.md 1.4. Unlike the origin it counts runs where there are signal events (a run that
says DONE and COMPLETE is one, a COMPLETE that reports a failure is none) and takes COMPLETED for COMPLETE.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from ingest.processors.gaps import recommendation
from triage.report.model import Metrics, Recommendation, Run, ToolingClaim
from triage.report.model_parts import BoardItem, Counts

SWARM_TASKS: Final = 3
"""As many urgent tasks make a swarm worth its price."""

SUCCESS_WORDS: Final = ("COMPLETE", "COMPLETED")

_OTHER_ADVICE: Final = "Record the blocker and ask for it to be mended."


def claims(gaps: Counts) -> list[ToolingClaim]:
    """Turn counted gaps into claims, most frequent first, then by code."""
    found = [
        ToolingClaim(code=code, count=count, recommendation=recommendation(code) or _OTHER_ADVICE)
        for code, count in gaps.items()
    ]
    return sorted(found, key=lambda claim: (-claim.count, claim.code))


def recommend(
    tooling: Iterable[ToolingClaim], signals: Counts, runs: Sequence[Run], unlock_now: Sequence[BoardItem]
) -> Recommendation:
    """Choose the lane: the first rule that fits."""
    succeeded = sum(run.outcome == "success" for run in runs)
    metrics = Metrics(
        claim_count=sum(claim.count for claim in tooling),
        complete_signals=succeeded if runs else sum(signals.get(word, 0) for word in SUCCESS_WORDS),
        unlock_now_count=len(unlock_now),
        blocked_now_count=sum(item.status == "blocked" for item in unlock_now),
        runs_succeeded=succeeded,
        runs_failed=sum(run.outcome in {"failed", "aborted"} for run in runs),
    )
    return _lane(metrics)


def _lane(metrics: Metrics) -> Recommendation:
    if metrics.claim_count:
        return Recommendation(
            lane="bootstrap-first",
            confidence="high",
            reasons=[f"toolingClaims={metrics.claim_count}", "Gaps in the tools come before any delegation."],
            next_action="Claim the missing capability, mend tools and permissions, and only then delegate.",
            metrics=metrics,
        )
    if not metrics.complete_signals:
        return Recommendation(
            lane="subagent-warmup",
            confidence="medium",
            reasons=["No run completed in this window.", "Delegate something light before a swarm."],
            next_action="Give one short task to a subagent, then look again.",
            metrics=metrics,
        )
    if metrics.unlock_now_count >= SWARM_TASKS:
        return Recommendation(
            lane="swarm-candidate",
            confidence="medium",
            reasons=[
                f"unlockNow={metrics.unlock_now_count}",
                "Urgent work, and runs that complete: enough to scale up.",
            ],
            next_action="Check readiness and quota, then launch a short swarm with an explicit budget.",
            metrics=metrics,
        )
    return Recommendation(
        lane="subagent-as-tool",
        confidence="high",
        reasons=[
            "No gaps in the tools.",
            f"COMPLETE={metrics.complete_signals}",
            "Light delegation comes before a swarm.",
        ],
        next_action="Delegate one small slice to a subagent and keep the coordination here.",
        metrics=metrics,
    )
