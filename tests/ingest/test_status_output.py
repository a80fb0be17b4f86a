"""`session-ingest status` tells how things stand with and without a daemon, within 80 columns, and as JSON."""

import io
import json

import pytest
from rich.console import Console

from ingest.commands.status import age, render
from ingest.log.contract import Topic
from ingest.status import DaemonView, SourceView, Status
from ingest.status_log import LogView, ProcessorView
from tests.support.daemon import Home, eventually, session_file, texts_by_thread


@pytest.fixture
def home(tmp_path):
    home = Home(tmp_path)
    yield home
    home.close()


def status_of(daemon: DaemonView, processors_run: bool = False) -> Status:
    counts = {"seen": 123_456_789, "emitted": 123_456_700, "rejected": 89}
    return Status(
        at="2026-01-31T09:30:00.000Z",
        log=LogView("/home/someone/.local/state/session-triage/log.db", 5_000_000, {Topic.EVENTS: 123_456_700}),
        daemon=daemon,
        sources=[
            SourceView("pi", "running", None, "2026-01-31T09:29:00.000Z", 60.0, 61.0, 12, counts),
            SourceView("a-source-with-a-very-long-name", "backing-off", "the log refuses: disk full"),
        ],
        processors=[
            ProcessorView("normalize", Topic.CAPTURED, 1_234_567, 90_000.0, None, {"emitted": 123_456_700}),
            ProcessorView("summaries", Topic.EVENTS, 0, 0.0, None, {}),
        ],
        processors_run=processors_run,
    )


def rendered(status: Status, width: int = 80) -> str:
    stream = io.StringIO()
    render(status, Console(file=stream, width=width, highlight=False))
    return stream.getvalue()


def test_tables_fit_eighty_columns_whatever_the_numbers():
    text = rendered(status_of(DaemonView(running=True, pid=1234567, since="2026-01-31T09:00:00.000Z", ready=True)))
    assert max(map(len, text.splitlines())) <= 80
    assert text.count("123.5 M") == 3
    assert text.count("…") == 1, "the long name is cut, nothing else"


def test_what_is_wrong_is_said_in_words():
    daemon = DaemonView(running=True, pid=7, since="s", ready=False, reasons=["source pi: first sweep not done"])
    text = rendered(status_of(daemon))
    assert "process 7, since s, not ready" in text
    assert "not ready: source pi: first sweep not done" in text
    assert "last error: the log refuses: disk full" in text
    assert "Nobody runs the processors now" in text
    assert "1 d" in text


def test_a_daemon_that_does_not_answer_is_told_from_none():
    assert "does not answer" in rendered(status_of(DaemonView(running=True, pid=7, since="s")))
    assert "not running" in rendered(status_of(DaemonView(running=False)))


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(None, "-"), (0.4, "0 s ago"), (59, "59 s ago"), (90, "2 min ago"), (7200, "2 h ago"), (200_000, "2 d ago")],
)
def test_ages_are_in_their_largest_unit(seconds, words):
    assert age(seconds) == words


def test_without_a_log_it_says_what_to_do(home):
    result = home.command("status")
    assert result.returncode == 1
    assert "session-ingest run" in result.stderr
    assert not home.state.exists(), "asking makes nothing"


def test_with_and_without_a_daemon_the_same_facts(home):
    file = session_file(home, 1)
    file.append(2)
    home.start()
    eventually(lambda: texts_by_thread(home) == {file.session: file.texts})
    running = json.loads(home.command("status", "--json").stdout)
    pid = home.process.pid
    assert "daemon running" in home.command("status").stdout
    home.stop()
    stopped = json.loads(home.command("status", "--json").stdout)
    assert (running["daemon"]["running"], running["daemon"]["pid"], running["daemon"]["ready"]) == (True, pid, True)
    assert stopped["daemon"] == {**dict.fromkeys(running["daemon"]), "running": False, "reasons": []}
    assert running["processorsRun"]
    assert not stopped["processorsRun"]
    assert [source["name"] for source in stopped["sources"]] == ["pi", "drop"]
    for status in (running, stopped):
        assert status["sources"][0]["counts"] == {"seen": 2, "emitted": 2}
        assert {processor["name"]: processor["lag"] for processor in status["processors"]}["normalize"] == 0
        assert status["log"]["records"]["conversations.events"] == 2
    assert running["sources"][0]["state"] in {"running", "idle"}
    assert stopped["sources"][0]["state"] is None
