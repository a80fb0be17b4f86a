"""pi's history is found by its headers and read from its ends; the log is read beside the daemon."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from ingest.log.contract import NewRecord, Topic
from ingest.log.embedded import EmbeddedLog
from ingest.log.walk import offset_before
from schemas.captured import RejectedRecord, encode_record
from schemas.event import encode
from schemas.keys import thread_key
from tests.support.triage import Home, PiSession, ago, canonical, event, jsonl


def _session(home: Home, name: str = "a_1.jsonl", **members: Any) -> PiSession:
    return PiSession(home.pi_folder() / name, str(home.workspace), **members)


def test_default_is_pis_own_history_of_the_workspace(home: Home) -> None:
    """Found by `header.cwd`, whatever its folder is called; others' sessions are left alone."""
    _session(home).say("user", "hello").say("assistant", "Which port?")
    PiSession(home.pi_folder() / "b_2.jsonl", "/somewhere/else", identifier="x2").say("assistant", "Shall I?")
    report = home.run("--json").report
    assert report["sources"]["sessionDirSource"] == "global-fallback"
    assert report["sources"]["piSessionJsonl"] is True
    assert report["sessionDir"] == str(home.folder / ".pi/agent/sessions")
    (session,) = report["sessions"]
    assert (session["file"], session["messageCount"], session["userMessages"], session["assistantMessages"]) == (
        "a_1.jsonl", 2, 1, 1,
    )  # fmt: skip
    assert [item["words"] for item in report["waiting"]] == ["Which port?"]


def test_workspace_with_spaces_and_accents(home: Home) -> None:
    """The origin computes a key and finds nothing here."""
    workspace = home.folder / "meu projeto+é"
    workspace.mkdir()
    PiSession(home.pi_folder() / "a.jsonl", str(workspace)).say("user", "olá")
    assert len(home.run("--json", "--workspace", workspace).report["sessions"]) == 1
    assert len(home.run("--json", "--workspace", f"{workspace}/").report["sessions"]) == 1


@pytest.mark.parametrize(
    ("arguments", "files"), [([], ["s.jsonl"]), (["--allow-global-fallback"], ["s.jsonl", "a_1.jsonl"])]
)
def test_sandbox_comes_first(home: Home, arguments: list[str], files: list[str]) -> None:
    """With a sandbox only that is read, unless the fallback is allowed."""
    _session(home).say("user", "global")
    os.utime(home.pi_folder() / "a_1.jsonl", (1_900_000_000, 1_900_000_000 - 10))
    folder = home.workspace / ".sandbox/pi-agent/sessions/--x--"
    PiSession(folder / "s.jsonl", str(home.workspace), identifier="s").say("user", "sandbox")
    os.utime(folder / "s.jsonl", (1_900_000_000, 1_900_000_000))
    report = home.run("--json", *arguments).report
    assert report["sources"]["sessionDirSource"] == "local-sandbox"
    assert [s["file"] for s in report["sessions"]] == files


def test_no_history_at_all(home: Home) -> None:
    report = home.run("--json").report
    assert report["sources"]["sessionDirSource"] == "local-sandbox-missing"
    assert report["sources"]["piSessionJsonl"] is False
    assert report["sessionDir"] == str(home.workspace / ".sandbox/pi-agent/sessions")


def test_newest_files_within_the_window(home: Home) -> None:
    """At most `--limit`, the newest first, and none that changed before `--days`."""
    for number in range(5):
        session = _session(home, f"a_{number}.jsonl", identifier=f"s{number}").say("user", f"hello {number}")
        moment = session.path.stat().st_mtime - number * 3600 - (2 * 86400 if number == 1 else 0)
        os.utime(session.path, (moment, moment))
    assert [s["file"] for s in home.run("--json", "--limit", "2").report["sessions"]] == ["a_0.jsonl", "a_2.jsonl"]
    assert len(home.run("--json").report["sessions"]) == 4
    assert len(home.run("--json", "--days", "9").report["sessions"]) == 5


def test_only_the_last_lines_are_read(home: Home) -> None:
    """The header is known all the same; the counts say what was left out, and how to read more."""
    session = _session(home)
    for number in range(30):
        session.say("user", f"word {number}")
    session.say("assistant", "Which port?")
    report = home.run("--json", "--tail-lines", "5").report
    (found,) = report["sessions"]
    assert (found["totalLineCount"], found["scannedLineCount"], found["truncatedLineCount"]) == (32, 5, 27)
    assert found["messageCount"] == 5
    assert report["scanWindow"]["truncatedSessions"] == 1
    assert report["scanWindow"]["truncatedLinesTotal"] == 27
    assert report["waiting"][0]["where"]["threadId"] == session.identifier
    assert report["waiting"][0]["where"]["workspace"] == str(home.workspace)
    assert report["problems"] == []
    assert "--window 2 reads more" in home.run("--tail-lines", "5").stdout


def test_custom_messages_carry_the_signals(home: Home) -> None:
    """The origin reads messages only, and misses nearly every true signal."""
    _session(home).add(
        {"type": "custom_message", "customType": "ant-colony-report", "display": True,
         "content": "[COLONY_SIGNAL:COMPLETE] [c1|colony-ab]\n**Status:** ✅ done"}
    )  # fmt: skip
    report = home.run("--json").report
    assert report["aggregate"]["colonySignals"] == {"COMPLETE": 1}
    (run,) = report["aggregate"]["runs"]
    assert (run["runId"], run["outcome"], run["threadId"]) == ("c1|colony-ab", "success", PiSession.identifier)


def test_entry_of_several_blocks_is_one_message(home: Home) -> None:
    """Counts are those of the origin: entries, not events."""
    blocks = [{"type": "text", "text": "look"}, {"type": "toolCall", "id": "c", "name": "read", "arguments": {}}]
    _session(home).say("user", "go").add({"message": {"role": "assistant", "content": blocks}})
    (session,) = home.run("--json").report["sessions"]
    assert (session["messageCount"], session["assistantMessages"]) == (2, 1)


def test_line_that_is_still_written_is_no_fault(home: Home) -> None:
    """A last line without its newline counts when it is whole, and else waits."""
    session = _session(home).say("user", "hello")
    with session.path.open("a") as file:
        file.write('{"type":"message","id":"x","mess')
    outcome = home.run("--json")
    assert outcome.status == 0
    assert outcome.report["sessions"][0]["messageCount"] == 1
    whole = {"type": "message", "id": "y", "timestamp": ago(0), "message": {"role": "user", "content": "more"}}
    session.path.write_text(session.path.read_text().rpartition("\n")[0] + "\n" + json.dumps(whole))
    assert home.run("--json").report["sessions"][0]["messageCount"] == 2


def test_torn_line_is_named(home: Home) -> None:
    session = _session(home).say("user", "one")
    with session.path.open("a") as file:
        file.write('{"type":"mess\n')
    session.say("user", "two")
    outcome = home.run("--json")
    assert outcome.status == 1
    assert outcome.report["sessions"][0]["messageCount"] == 2
    assert outcome.report["problems"][0]["where"].startswith(str(session.path))


def test_same_session_in_a_file_and_in_the_history_counts_once(home: Home) -> None:
    """Events of all sources are known by their ids."""
    _session(home).say("assistant", "Which port?")
    identifier = home.run("--json").report["waiting"][0]["eventId"]
    file = home.file("e.jsonl", jsonl([canonical("Which port?", "assistant", id=identifier)]))
    report = home.run("--json", "--events", file).report
    assert (report["events"], report["duplicates"]) == (1, 1)
    assert len(report["waiting"]) == 1


def _log(path: Path, events: list[Any], clock: Any = None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    log = EmbeddedLog.open(path, **({"clock": clock} if clock else {}))
    try:
        for one in events:
            key = thread_key(one.source.provider_account_key, one.source.thread_id)
            log.append([NewRecord(Topic.EVENTS, key, encode(one))])
        bad = RejectedRecord(source="pi", where="a.jsonl: byte 9", reason="invalid-json", rejected_at=ago(1))
        log.append([NewRecord(Topic.REJECTED, "pi", encode_record(bad))])
    finally:
        log.close()


def _now(text: str, hours: float, **members: Any) -> Any:
    one = event(text, hours=hours, **members)
    one.event.timestamp_iso = ago(hours)
    return one


def test_log_is_read_and_left_alone(home: Home) -> None:
    """Its events, of every workspace; what the daemon rejected is named as a warning; pi's files are not read twice."""
    path = home.folder / ".local/state/session-triage/log.db"
    _log(
        path,
        [
            _now("Which port?", 1),
            _now("old?", 40, thread="t0"),
            _now("Wann kommst du?", 2, role="user", provider="matrix"),
        ],
    )
    _session(home).say("assistant", "Shall I?")
    for arguments in (["--log"], ["--log", path], ["--log", path.parent]):
        outcome = home.run("--json", *arguments)
        report = outcome.report
        assert outcome.status == 0
        assert [item["words"] for item in report["waiting"]] == ["Wann kommst du?", "Which port?"]
        assert report["sources"]["log"] == str(path)
        assert (report["events"], report["tooOld"]) == (2, 1)
        assert [p["reason"] for p in report["problems"]] == ["rejected-by-daemon"]
        assert [s["format"] for s in report["sessions"]] == ["log"]


def test_file_that_is_no_log(home: Home) -> None:
    """A failure that is named, with the report of everything else."""
    outcome = home.run("--json", "--log", home.file("x.db", b"no database at all" * 100))
    assert outcome.status == 1
    assert outcome.report["problems"][0]["reason"] == "unreadable"


def test_bisection_finds_where_the_window_begins(tmp_path: Path) -> None:
    """What was appended before the window is never read."""
    times = iter(range(1000, 1_000_000, 1000))
    path = tmp_path / "log.db"
    log = EmbeddedLog.open(path, clock=lambda: next(times))
    try:
        for number in range(40):
            log.append([NewRecord(Topic.EVENTS, "k", encode(event(f"n{number}")))])
        stamps = [record.time_ms for record in log.read(Topic.EVENTS, 0, 100, 1 << 30)]
        offsets = [record.offset for record in log.read(Topic.EVENTS, 0, 100, 1 << 30)]
        for stamp, offset in zip(stamps, offsets, strict=True):
            found = log.read(Topic.EVENTS, offset_before(log, Topic.EVENTS, stamp), 1, 1 << 20)
            assert found[0].time_ms >= stamp
            assert found[0].offset <= offset
        assert offset_before(log, Topic.EVENTS, 0) == 0
        assert log.read(Topic.EVENTS, offset_before(log, Topic.EVENTS, stamps[-1] + 1), 1, 1) == []
    finally:
        log.close()
