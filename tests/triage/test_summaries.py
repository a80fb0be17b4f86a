"""Summaries give what is open, and the store keeps it only where the operator says so."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.triage import Home, PiSession, ago, canonical, jsonl
from triage.report.model import SummaryEntry
from triage.report.summary_store import MAX_ENTRIES, load, merge, save

SUMMARY = """## Goal
Mend the mill
## Progress
### Done
- [x] wheel
### In Progress
- [ ] milling
- [x] swept
### Blocked
- no key for the gate
### Notes
- nothing
## Next Steps:
1) open the gate
- None
"""


def summary(text: str = SUMMARY, **members: Any) -> dict[str, Any]:
    return canonical(text, "system", type="summary", **members)


def test_pi_summaries_are_read_from_their_own_entries(home: Home) -> None:
    """The origin's defects: bare compaction and branch summaries, and blocked items in the wrong list."""
    session = PiSession(home.pi_folder() / "a_1.jsonl", str(home.workspace))
    session.add({"type": "compaction", "summary": SUMMARY, "tokensBefore": 9})
    session.add({"type": "branch_summary", "summary": "### Next steps\n- oil the wheel", "fromId": "x"})
    report = home.run("--json").report
    assert report["aggregate"]["inProgress"] == ["milling"]
    assert report["aggregate"]["blocked"] == ["no key for the gate"]
    assert report["aggregate"]["nextSteps"] == ["oil the wheel", "open the gate"]
    assert report["aggregate"]["branchSummariesCount"] == 2
    assert [s["source"] for s in report["sessions"][0]["branchSummaries"]] == ["a_1.jsonl", "a_1.jsonl"]


@pytest.mark.parametrize(
    ("event", "found"),
    [
        (summary(), True),
        (canonical(f"<SUMMARY>{SUMMARY}</SUMMARY>", "user"), True),
        (canonical(f"The following is a summary:\n{SUMMARY}", "assistant"), True),
        (canonical(SUMMARY, "assistant"), False),
        (canonical(f"<summary>{SUMMARY}</summary>", "tool", type="tool_result"), False),
    ],
)
def test_what_counts_as_a_summary(home: Home, event: dict[str, Any], found: bool) -> None:
    report = home.run("--json", "--events", home.file("e.jsonl", jsonl([event]))).report
    assert report["aggregate"]["blocked"] == (["no key for the gate"] if found else [])
    if found:
        assert report["sessions"][0]["branchSummaries"][0]["source"] == "canonical:e.jsonl:pi"


def test_blocked_items_of_the_latest_summary_wait(home: Home) -> None:
    """A newer summary of the thread that does not name an item has resolved it."""
    events = [
        summary(hours=5),
        summary("## Blocked\n- no oil", hours=3),
        summary("## Blocked\n- no rope", hours=4, thread="t2"),
    ]
    waiting = home.run("--json", "--events", home.file("e.jsonl", jsonl(events))).report["waiting"]
    assert [(item["rule"], item["words"]) for item in waiting] == [
        ("summary-blocked", "no rope"), ("summary-blocked", "no oil"),
    ]  # fmt: skip


def test_nothing_is_written_unless_a_store_is_named(home: Home) -> None:
    file = home.file("e.jsonl", jsonl([summary()]))
    (home.workspace / ".sandbox/pi-agent/sessions").mkdir(parents=True)
    before = home.tree()
    home.run("--json", "--events", file)
    home.run("--events", file, "--no-summary-store")
    home.run("--events", file, "--no-summary-store", "--summary-store", home.folder / "store.json")
    assert home.tree() == before


def test_store_keeps_what_earlier_runs_saw(home: Home) -> None:
    store = home.folder / "deep/er/store.json"
    file = home.file("e.jsonl", jsonl([summary()]))
    first = home.run("--json", "--events", file, "--summary-store", store).report
    assert first["branchSummaryStore"] == {
        "enabled": True, "path": str(store), "loaded": 0, "merged": 1, "sessionExtracted": 1,
    }  # fmt: skip
    file.write_bytes(jsonl([summary("## Next Steps\n- rest")]))
    second = home.run("--json", "--events", file, "--summary-store", store).report
    assert second["branchSummaryStore"]["loaded"] == 1
    assert second["aggregate"]["nextSteps"] == ["rest", "open the gate"]
    kept = json.loads(store.read_text())
    assert (kept["version"], kept["retentionDays"], len(kept["entries"])) == (1, 30, 2)
    assert set(kept["entries"][0]) == {"nextSteps", "inProgress", "blocked", "source", "seenAt"}
    assert list(store.parent.iterdir()) == [store]


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"entries": 7}', b"\xff\xfe", b"[" * 100_000])
def test_broken_store_is_kept_aside(home: Home, content: bytes) -> None:
    """What cannot be read is renamed, told, and never overwritten."""
    store = home.file("store.json", content)
    outcome = home.run("--json", "--summary-store", store)
    assert outcome.status == 0
    assert [p["reason"] for p in outcome.report["problems"]] == ["store-broken"]
    (aside,) = store.parent.glob("store.json.broken-*")
    assert aside.read_bytes() == content
    assert json.loads(store.read_text())["entries"] == []


def test_store_that_cannot_be_written_is_a_failure(home: Home) -> None:
    home.file("taken", b"")
    outcome = home.run("--json", "--summary-store", home.folder / "taken" / "store.json")
    assert outcome.status == 1
    assert [p["reason"] for p in outcome.report["problems"]] == ["store-failed"]


def test_store_forgets_after_a_month_and_above_its_size(tmp_path: Path) -> None:
    """30 days and 500 entries, the newest."""
    now = datetime(2026, 11, 30, tzinfo=UTC)
    path = tmp_path / "store.json"
    entries = [SummaryEntry(next_steps=[str(n)], seen_at=ago(n / 60, now)) for n in range(MAX_ENTRIES + 5)]
    old = SummaryEntry(next_steps=["old"], seen_at=ago(31 * 24, now))
    save(path, merge([old], entries), now)
    kept = load(path).entries
    assert len(kept) == MAX_ENTRIES
    assert [entry.next_steps for entry in kept[:2]] == [["0"], ["1"]]
    save(path, [old], now + timedelta(days=1))
    assert load(path).entries == []


def test_equal_entries_are_one_the_newest() -> None:
    """Compared by what they leave open, whatever the case and the order."""
    older = SummaryEntry(next_steps=["Oil", "rest"], source="a", seen_at="2026-01-01T00:00:00.000Z")
    newer = SummaryEntry(next_steps=["rest", "oil"], source="b", seen_at="2026-01-02T00:00:00.000Z")
    assert [entry.source for entry in merge([newer], [older])] == ["b"]
