"""Runs come from signals, lanes from runs, and a failed run waits until something follows it up."""

from typing import Any

import pytest

from tests.support.triage import Home, canonical, event, gathered, jsonl, task, write_board
from triage.report.runs import waiting_runs


def signal(words: str, hours: float, thread: str = "t1") -> Any:
    return event(words, "agent", type="signal", hours=hours, thread=thread)


@pytest.mark.parametrize(
    ("rule", "signals", "outcomes"),
    [
        ("done and its report are one run", ["DONE] [c1]", "COMPLETE] [c1|colony-ab]"], ["success"]),
        ("a report that says failed fails", ["COMPLETE] [c1]\n**Status:** ❌ failed"], ["failed"]),
        ("completed is complete", ["COMPLETED] [c1]"], ["success"]),
        ("an abort is one", ["WORKING] [c1]", "ABORTED] [c1]"], ["aborted"]),
        ("no end means running", ["LAUNCHED] [c1]", "WORKING] [c1]"], ["running"]),
        ("an unknown state is no end", ["NAPPING] [c1]"], ["running"]),
        ("two ids are two runs", ["COMPLETE] [c1]", "FAILED] [c2]"], ["failed", "success"]),
    ],
)
def test_outcomes(rule: str, signals: list[str], outcomes: list[str]) -> None:
    events = [signal(f"[COLONY_SIGNAL:{words}", 5 - n) for n, words in enumerate(signals)]
    assert [run.outcome for run in gathered(events).runs.runs()] == outcomes, rule


def test_same_runtime_id_in_two_threads_is_two_runs() -> None:
    """E41: every process counts from c1."""
    events = [signal("[COLONY_SIGNAL:COMPLETE] [c1]", 2, "a"), signal("[COLONY_SIGNAL:FAILED] [c1]", 1, "b")]
    assert [run.outcome for run in gathered(events).runs.runs()] == ["failed", "success"]


@pytest.mark.parametrize(
    ("rule", "signals", "kinds"),
    [
        ("a failure waits", ["FAILED] [c1]"], ["failed"]),
        ("an abort waits", ["ABORTED] [c1]"], ["aborted"]),
        ("a spent budget waits", ["BUDGET_EXCEEDED] [c1]"], ["failed"]),
        ("a new run ends it", ["FAILED] [c1]", "LAUNCHED] [c2]"], []),
        ("the same counter, launched again, is a new run", ["FAILED] [c1]", "LAUNCHED] [c1]"], []),
        ("an earlier run does not", ["LAUNCHED] [c1]", "FAILED] [c2]"], ["failed"]),
        ("a run that succeeds later does", ["WORKING] [c1]", "FAILED] [c2]", "COMPLETE] [c1]"], []),
        ("a success does not wait", ["COMPLETE] [c1]"], []),
    ],
)
def test_failed_runs_wait(rule: str, signals: list[str], kinds: list[str]) -> None:
    events = [signal(f"[COLONY_SIGNAL:{words}", 9 - n) for n, words in enumerate(signals)]
    assert [item.kind for item in waiting_runs(gathered(events).runs.runs())] == kinds, rule


def _lane(home: Home, events: list[dict[str, Any]], tasks: list[dict[str, Any]]) -> dict[str, Any]:
    write_board(home.workspace, tasks)
    report = home.run("--json", "--events", home.file("e.jsonl", jsonl(events))).report
    recommendation = report["recommendation"]
    assert isinstance(recommendation, dict)
    return recommendation


_DONE = canonical("[COLONY_SIGNAL:COMPLETED] [c1] all cut", "assistant")
_FAILED = canonical("[COLONY_SIGNAL:COMPLETE] [c1]\n**Status:** ❌ failed", "assistant")
_MENTION = canonical("they said [COLONY_SIGNAL:COMPLETE] there", "user")
_GAP = canonical("bash: rg: command not found", "assistant")
_URGENT = [task(f"T{n}", "blocked") for n in range(3)]


@pytest.mark.parametrize(
    ("rule", "events", "tasks", "lane", "complete"),
    [
        ("gaps come first", [_GAP, _DONE], _URGENT, "bootstrap-first", 1),
        ("nothing completed", [canonical("hello")], _URGENT, "subagent-warmup", 0),
        ("completed counts as complete", [_DONE], [], "subagent-as-tool", 1),
        ("three urgent tasks make a swarm", [_DONE], _URGENT, "swarm-candidate", 1),
        ("a report that says failed completes nothing", [_FAILED], _URGENT, "subagent-warmup", 0),
        ("without signal events words count, as in the origin", [_MENTION], [], "subagent-as-tool", 1),
        ("with them they do not", [_MENTION, _FAILED], [], "subagent-warmup", 0),
    ],
)
def test_lane(
    home: Home, rule: str, events: list[dict[str, Any]], tasks: list[dict[str, Any]], lane: str, complete: int
) -> None:
    recommendation = _lane(home, events, tasks)
    assert (recommendation["lane"], recommendation["metrics"]["completeSignals"]) == (lane, complete), rule


def test_claims_are_sorted_and_say_what_to_do(home: Home) -> None:
    """By count, then by code; each with a recommendation."""
    events = [
        canonical("spawn rg ENOENT", "tool", type="tool_result", labels=["error"]),
        canonical("bash: rg: command not found", "assistant"),
        canonical("bash: fd: command not found", "assistant"),
    ]
    aggregate = home.run("--json", "--events", home.file("e.jsonl", jsonl(events))).report["aggregate"]
    assert aggregate["toolingGaps"] == {"command-not-found": 2, "spawn-enoent": 1}
    assert [(c["code"], c["count"]) for c in aggregate["toolingClaims"]] == [
        ("command-not-found", 2), ("spawn-enoent", 1),
    ]  # fmt: skip
    assert all(claim["recommendation"] for claim in aggregate["toolingClaims"])
