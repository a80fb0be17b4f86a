"""Bad input costs itself and is named; wrong usage is one line; standard output holds the report alone."""

import sys
from pathlib import Path

import pytest

from tests.support.triage import Home, canonical, flat, jsonl


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b'{"text": ', "invalid-json"),
        (b"\x00\x01\xff\xfe binary", "invalid-json"),
        (b"[" * 100_000, "too-deep"),
        (b"1", "not-an-object"),
        (b'"x"', "not-an-object"),
        (b"null", "not-an-object"),
        (b'{"unrelated": 1}', "not-an-event"),
    ],
)
def test_bad_line_is_named_and_costs_itself(home: Home, bad: bytes, reason: str) -> None:
    """The report is printed, the line is counted with its place, the exit status is 1."""
    file = home.file("e.jsonl", jsonl([flat("one")]) + bad + b"\n" + jsonl([flat("two")]))
    outcome = home.run("--json", "--events", file)
    assert outcome.status == 1
    assert outcome.report["events"] == 2
    (problem,) = outcome.report["problems"]
    assert (problem["severity"], problem["reason"]) == ("rejected", reason)
    assert problem["where"].startswith(f"{file}: byte ")
    assert outcome.report["problemCounts"] == {"rejected": 1, "warning": 0}
    text = home.run("--events", file)
    assert text.status == 1
    assert reason in text.stdout


def test_thousands_of_bad_lines_are_counted_to_the_end(home: Home) -> None:
    """Named are the first ones only, in the report and in memory."""
    outcome = home.run("--json", "--events", home.file("e.jsonl", b"{bad\n" * 3000))
    assert outcome.report["problemCounts"]["rejected"] == 3000
    assert len(outcome.report["problems"]) == 500


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--events", "FOLDER"], "is a folder"),
        (["--events", "MISSING"], "no such file"),
        (["--log", "MISSING"], "session-ingest run"),
        (["--log"], "session-ingest run"),
        (["--ideas", "MISSING"], "no such file"),
        (["--summary-store", "FOLDER"], "is a folder"),
        (["--dayz", "1"], "--days"),
        (["--events"], "--events"),
        (["surprise"], "surprise"),
    ],
)
def test_wrong_usage_is_told_in_a_line(home: Home, arguments: list[str], words: str) -> None:
    """Status 2, nothing on standard output, and what to do on standard error."""
    names = {"FOLDER": str(home.folder), "MISSING": str(home.folder / "nowhere")}
    outcome = home.start(*[names.get(a, a) for a in arguments])
    assert outcome.status == 2
    assert outcome.stdout == ""
    assert words in outcome.stderr
    assert "Traceback" not in outcome.stderr


@pytest.mark.parametrize(
    "content", [b"\x00" * 5000, bytes(range(256)) * 20, b"[" * 100_000, b'{"a":' * 50_000, b"\xff\xfe{\x00}\x00"]
)
def test_any_bytes_end_in_a_report(home: Home, content: bytes) -> None:
    """As a process of its own: no traceback, status 1, one JSON document."""
    outcome = home.start("--json", "--events", home.file("e.jsonl", content))
    assert outcome.status == 1
    assert outcome.stderr == ""
    assert outcome.report["problemCounts"]["rejected"] >= 1


def test_json_is_alone_on_standard_output(home: Home) -> None:
    """Warnings and rejections go into the report, not between it."""
    file = home.file("e.jsonl", jsonl([canonical("lone \udcb2 surrogate 🌾")]) + b"bad\n")
    outcome = home.start("--json", "--events", file)
    assert outcome.report["events"] == 1
    assert outcome.stdout.endswith("}\n")
    assert outcome.stderr == ""


def test_ascii_locale_does_not_break_the_report(home: Home) -> None:
    """JSON is UTF-8 whatever the locale; text replaces what it cannot show."""
    file = home.file("e.jsonl", jsonl([canonical("Shall I cut the 芦苇?", "assistant")]))
    home.environment |= {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    assert home.start("--json", "--events", file).report["waiting"][0]["words"] == "Shall I cut the 芦苇?"
    assert home.start("--events", file).status == 0


@pytest.mark.skipif(sys.platform != "linux", reason="file names of any bytes")
def test_file_name_that_is_no_utf8(home: Home) -> None:
    path = Path(str(home.folder / "e-\udcff.jsonl"))
    path.write_bytes(jsonl([canonical("hello")]))
    outcome = home.run("--json", "--events", path)
    assert outcome.report["sessions"][0]["file"] == "canonical:e-\\xff.jsonl"
    assert home.run("--events", path).status == 0


def test_pipe_is_read_like_a_file(home: Home) -> None:
    """As in `--events <(command)`: what cannot be sought in is copied first."""
    outcome = home.start("--json", "--events", "/dev/stdin", stdin=jsonl([canonical("a"), canonical("b")]))
    assert outcome.report["events"] == 2


def test_same_id_counts_once(home: Home) -> None:
    """E45: at-least-once delivery repeats; other words under a known id are worth a warning, the first count."""
    one, other = canonical("first", id="x"), canonical("second", id="x")
    report = home.run("--json", "--events", home.file("e.jsonl", jsonl([one, one, other]))).report
    assert (report["events"], report["duplicates"]) == (1, 2)
    (problem,) = report["problems"]
    assert (problem["severity"], problem["reason"]) == ("warning", "same-id-other-content")
    assert "x" in problem["detail"]


def test_twice_the_same_report(home: Home) -> None:
    """E48: but for the time at which it was made."""
    file = home.file(
        "e.jsonl", jsonl([canonical("Shall I?", "assistant"), flat("[COLONY_SIGNAL:FAILED] [c1]", "agent")])
    )
    first, second = (home.start("--json", "--events", file).report for _ in range(2))
    assert first.pop("generatedAt") <= second.pop("generatedAt")
    assert first == second


def test_file_of_another_kind_is_told(home: Home) -> None:
    """A session file given to `--events` has no words that are read there: silence would look like calm."""
    entry = {"type": "message", "message": {"role": "user", "content": "hello"}}
    outcome = home.run("--json", "--events", home.file("s.jsonl", jsonl([entry, entry])))
    assert outcome.report["events"] == 0
    assert outcome.report["skipped"] == {"empty": 2, "hidden": 0}
    assert [p["reason"] for p in outcome.report["problems"]] == ["no-events"]
