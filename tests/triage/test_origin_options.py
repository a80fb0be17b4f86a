"""The origin's own options, file shapes and report behave as its users know them."""

import json
from typing import Any

import pytest

from tests.support.triage import Home, PiSession, ago, canonical, flat, jsonl
from triage.forgiving import forgiven
from triage.report.options import Options, positive


@pytest.mark.parametrize(
    ("raw", "number"),
    [
        ("0.5", 0.5), ("2", 2), (" 2 ", 2), ("1e1", 10), (".5", 0.5), ("3.", 3), ("0", 1), ("-3", 1), ("x", 1), ("", 1),
        (None, 1), ("nan", 1), ("inf", 1), ("1_0", 1), ("1e999", 1), ("--json", 1),
    ],
)  # fmt: skip
def test_numbers_are_forgiven(raw: str | None, number: float) -> None:
    """Zero, negative, infinite or no number at all is the default."""
    assert positive(raw, 1) == number


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (["--days"], []),
        (["--days", "--json"], ["--json"]),
        (["--days", "-3", "--json"], ["--days=-3", "--json"]),
        (["--days", "0.5"], ["--days=0.5"]),
        (["--log"], ["--log="]),
        (["--log", "--json"], ["--log=", "--json"]),
        (["--log", "/x/log.db"], ["--log=/x/log.db"]),
        (["--log", "board"], ["--log=", "board"]),
        (["--", "--days"], ["--", "--days"]),
    ],
)
def test_arguments_are_put_right(given: list[str], meant: list[str]) -> None:
    assert forgiven(given, {"board"}) == meant


@pytest.mark.parametrize(
    ("arguments", "days", "limit"),
    [
        ([], 1, 8),
        (["--days", "0.5"], 0.5, 8),
        (["--days", "0"], 1, 8),
        (["--days", "-2"], 1, 8),
        (["--days", "soon"], 1, 8),
        (["--limit", "3", "--days", "2", "--days", "3"], 3, 3),
        (["--limit", "none", "--days"], 1, 8),
    ],
)
def test_days_and_limit_in_the_report(home: Home, arguments: list[str], days: float, limit: float) -> None:
    outcome = home.run("--json", *arguments)
    assert outcome.status == 0
    assert (outcome.report["lookbackDays"], outcome.report["limit"]) == (days, limit)


@pytest.mark.parametrize(
    ("arguments", "budget", "window", "expanded"),
    [
        ([], 160, 1, False),
        (["--expand"], 320, 2, True),
        (["--window", "3", "--expand"], 480, 3, True),
        (["--tail-lines", "10.9", "--window", "2"], 20, 2, True),
        (["--tail-lines", "x", "--window", "0"], 160, 1, False),
        (["--window", "0.5"], 160, 1, False),
    ],
)
def test_scan_window(home: Home, arguments: list[str], budget: int, window: float, expanded: bool) -> None:
    scan = home.run("--json", *arguments).report["scanWindow"]
    assert scan["mode"] == "tail-batch"
    assert (scan["lineBudget"], scan["window"], scan["expanded"]) == (budget, window, expanded)
    assert scan["suggestedNextWindow"] == window + 1


def test_days_of_a_fraction_leave_out_what_is_older(home: Home) -> None:
    """`--days 0.5` is twelve hours."""
    file = home.file("e.jsonl", jsonl([canonical("old", hours=13), canonical("new", hours=11)]))
    report = home.run("--json", "--days", "0.5", "--events", file).report
    assert report["sessions"][0]["messageCount"] == 1
    assert report["tooOld"] == 1


_ONE = flat("[COLONY_SIGNAL:COMPLETE] done", "assistant")
_TWO = flat("hello", "user")


@pytest.mark.parametrize(
    ("content", "file_format", "messages"),
    [
        (jsonl([_ONE, _TWO]), "jsonl", 2),
        (jsonl([_ONE]), "json", 1),
        (jsonl([_ONE, _TWO], "\r\n"), "jsonl", 2),
        (jsonl([_ONE, _TWO], "\r"), "jsonl", 2),
        (b"\xef\xbb\xbf" + jsonl([_ONE, _TWO]), "jsonl", 2),
        (jsonl([_ONE, _TWO]).rstrip(), "jsonl", 2),
        (b"\n\n" + jsonl([_ONE]) + b"\n  \n" + jsonl([_TWO]), "jsonl", 2),
        (json.dumps([_ONE, _TWO]).encode(), "json", 2),
        (json.dumps([_ONE, _TWO], indent=2).encode(), "json", 2),
        (b"\xef\xbb\xbf" + json.dumps([_ONE]).encode(), "json", 1),
        (json.dumps({"events": [_ONE, _TWO]}).encode(), "json", 2),
        (json.dumps({"events": [_ONE, _TWO]}, indent=2).encode(), "json", 2),
        (json.dumps(_ONE, indent=2).encode(), "json", 1),
        (json.dumps({"event": _ONE, "source": {"provider": " PI "}}).encode(), "json", 1),
        (b"[]", "json", 0),
        (b'{"events":[]}', "json", 0),
        (b"", "jsonl", 0),
    ],
)
def test_shapes_of_event_files(home: Home, content: bytes, file_format: str, messages: int) -> None:
    """Arrays, `events`, one object, lines of any end, a byte order mark: all are read."""
    outcome = home.run("--json", "--events", home.file("e.json", content))
    session = outcome.report["sessions"][0]
    assert outcome.status == 0
    assert session["messageCount"] == messages
    assert session["file"] == "canonical:e.json"
    assert session["format"] == file_format
    assert session["colonySignals"] == ({"COMPLETE": 1} if messages else {})


@pytest.mark.parametrize(
    ("members", "user", "assistant", "unknown"),
    [
        ({"role": "user"}, 1, 0, {}),
        ({"role": "USER"}, 1, 0, {}),
        ({"role": "operator"}, 1, 0, {}),
        ({"role": "human"}, 1, 0, {}),
        ({"authorRole": "agent"}, 0, 1, {}),
        ({"author_role": "bot"}, 0, 1, {}),
        ({"role": "assistant"}, 0, 1, {}),
        ({"role": "tool"}, 0, 0, {}),
        ({"role": "oracle"}, 0, 0, {"oracle": 1}),
        ({}, 0, 0, {"(none)": 1}),
    ],
)
def test_roles(home: Home, members: dict[str, Any], user: int, assistant: int, unknown: dict[str, int]) -> None:
    """E50: `human` is the operator, case does not matter, unknown roles are counted by themselves."""
    report = home.run("--json", "--events", home.file("e.jsonl", jsonl([{"text": "words", **members}]))).report
    session = report["sessions"][0]
    assert (session["userMessages"], session["assistantMessages"]) == (user, assistant)
    assert session["messageCount"] == 1
    assert report["aggregate"]["unknownRoles"] == unknown


@pytest.mark.parametrize(
    ("members", "kept"),
    [
        ({}, True),
        ({"timestamp": "yesterday-ish"}, True),
        ({"timestamp": None}, True),
        ({"createdAt": "2001-02-03T04:05:06Z"}, False),
        ({"created_at": 981173106}, False),
        ({"timestampIso": ago(2)}, True),
    ],
)
def test_times(home: Home, members: dict[str, Any], kept: bool) -> None:
    """E46: what has no usable time is kept."""
    report = home.run("--json", "--events", home.file("e.jsonl", jsonl([flat("words", **members)]))).report
    assert report["sessions"][0]["messageCount"] == int(kept)


@pytest.mark.parametrize(
    "content",
    [{"content": "the words"}, {"message": "the words"}, {"content": ["the", {"text": "words"}, {"content": "here"}]}],
)
def test_texts(home: Home, content: dict[str, Any]) -> None:
    """Text may be called text, message or content, and be blocks."""
    file = home.file("e.jsonl", jsonl([{"role": "user", **content}]))
    assert home.run("--json", "--events", file).report["sessions"][0]["userMessages"] == 1


def test_signals_are_counted_as_the_origin_counts_them(home: Home) -> None:
    """Every occurrence with brackets and capitals, in any text."""
    text = (
        "[COLONY_SIGNAL:COMPLETE] [COLONY_SIGNAL:COMPLETE] [COLONY_SIGNAL:TASK_DONE] COLONY_SIGNAL:FAILED "
        "[COLONY_SIGNAL:*] [COLONY_SIGNAL:A1] [colony_signal:complete]"
    )
    file = home.file("e.jsonl", jsonl([flat(text, "user"), flat(text, "tool")]))
    assert home.run("--json", "--events", file).report["aggregate"]["colonySignals"] == {"COMPLETE": 4, "TASK_DONE": 2}


def test_members_of_the_report(home: Home) -> None:
    """Every member that the origin's users read is there, with the origin's shape."""
    PiSession(home.pi_folder() / "a_1.jsonl", str(home.workspace)).say("user", "hello")
    file = home.file("e.jsonl", jsonl([_ONE]))
    report = home.run("--json", "--events", file).report
    assert set(report) >= {
        "generatedAt", "workspace", "lookbackDays", "limit", "sessionDir", "sources", "scanWindow", "sessions",
        "aggregate", "branchSummaryStore", "board", "ideaInbox", "recommendation",
    }  # fmt: skip
    assert set(report["sources"]) >= {
        "piSessionJsonl", "sessionDirSource", "canonicalEvents", "ideaInbox", "branchSummaryStore",
    }  # fmt: skip
    assert report["sources"]["canonicalEvents"] == str(file)
    assert report["sources"]["branchSummaryStore"] is None
    shared = {
        "file", "path", "updatedAt", "messageCount", "userMessages", "assistantMessages", "colonySignals",
        "toolingGaps", "ideaCandidates", "branchSummaries",
    }  # fmt: skip
    canonical_session, pi_session = report["sessions"]
    assert set(canonical_session) == shared | {"format", "providers"}
    assert set(pi_session) >= shared | {"totalLineCount", "scannedLineCount", "truncatedLineCount"}
    assert set(report["aggregate"]) >= {
        "colonySignals", "toolingGaps", "toolingClaims", "providers", "nextSteps", "inProgress", "blocked",
        "branchSummariesCount",
    }  # fmt: skip
    assert set(report["branchSummaryStore"]) == {"enabled", "path", "loaded", "merged", "sessionExtracted"}
    assert set(report["board"]) >= {"pending", "unlockNow", "later"}
    assert set(report["ideaInbox"]) == {"proposalCount", "reviewRequired", "promotionPolicy", "proposals"}
    assert set(report["recommendation"]) == {"lane", "confidence", "reasons", "nextAction", "metrics"}
    assert set(report["recommendation"]["metrics"]) >= {
        "claimCount", "completeSignals", "unlockNowCount", "blockedNowCount",
    }  # fmt: skip
    assert report["aggregate"]["providers"] == {"custom": 1, "pi": 1}


def test_several_event_files_and_standard_input(home: Home) -> None:
    """`--events` is repeatable, `-` is standard input, and the same file twice is read once."""
    first, second = home.file("1.jsonl", jsonl([canonical("a")])), home.file("2.jsonl", jsonl([canonical("b")]))
    outcome = home.run(
        "--json", "--events", first, "--events", "-", "--events", second, "--events", first, stdin=jsonl([_ONE])
    )
    assert [s["file"] for s in outcome.report["sessions"]] == [
        "canonical:1.jsonl",
        "canonical:stdin",
        "canonical:2.jsonl",
    ]
    assert outcome.report["events"] == 3


def test_options_of_a_report_are_usable_as_they_are() -> None:
    """A line budget is a whole number above 0, however odd the numbers given."""
    assert Options(workspace=None, tail_lines=0.2, window=0.1).line_budget == 1  # type: ignore[arg-type]
    assert Options(workspace=None, tail_lines=1e300, window=1e300).line_budget == 10_000_000  # type: ignore[arg-type]
