"""A session file that the real pi agent writes is tailed live: each entry arrives once, and triage tells of it."""

import json
from collections import Counter
from pathlib import Path

import pytest

from ingest.log.contract import Topic
from ingest.log.embedded import EmbeddedLog
from schemas.event import decode
from tests.support.commands import TRIAGE, Daemon, run, wait_for
from tests.support.pi_agent import configure, pi_command, prompt
from tests.support.scripted_model import scripted_model

pytestmark = pytest.mark.real_pi

ANSWER = "[COLONY_SIGNAL:COMPLETE] [c1] lot done, see TASK-REED-020 and #12.\nShall I merge it?"
SCRIPT = [{"tool": "bash", "arguments": {"command": "echo from the tool"}}, {"text": ANSWER}]
BOARD = {"tasks": [{"id": "TASK-REED-020", "description": "Cut the reeds", "status": "in-progress"}]}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A project with a board."""
    folder = tmp_path / "reed bed"
    (folder / ".project").mkdir(parents=True)
    (folder / ".project" / "tasks.json").write_text(json.dumps(BOARD))
    return folder


def events_of(daemon: Daemon) -> list:
    path = daemon.state / "log.db"
    if not path.exists():
        return []
    log = EmbeddedLog.open(path, read_only=True)
    try:
        return [decode(record.value) for record in log.read(Topic.EVENTS, 0, 10_000, 2**30)]
    finally:
        log.close()


def test_what_the_agent_writes_arrives_once_and_is_reported(tmp_path: Path, workspace: Path) -> None:
    """Prompt, call, result and answer, from two prompts of one session, while the daemon runs."""
    pi = pi_command()
    daemon = Daemon(tmp_path)
    try:
        with scripted_model(SCRIPT) as url:
            configure(tmp_path, url)
            daemon.wait_ready()
            prompt(pi, tmp_path, workspace, "cut the reeds")
            wait_for("the first answer", lambda: ANSWER in [e.event.text for e in events_of(daemon)])
            prompt(pi, tmp_path, workspace, "once more", "--continue")
            wait_for("the second answer", lambda: [e.event.text for e in events_of(daemon)].count(ANSWER) == 2)
        events = events_of(daemon)
        (session,) = (tmp_path / ".pi" / "agent" / "sessions").rglob("*.jsonl")
        lines = [json.loads(line) for line in session.read_bytes().splitlines()]
        log = run(TRIAGE, "--log", "--workspace", workspace, "--json", home=tmp_path)
        direct = run(TRIAGE, "--workspace", workspace, "--json", home=tmp_path)
    finally:
        assert daemon.stop() == 0

    ids = Counter(event.event.id for event in events)
    assert max(ids.values()) == 1
    assert {event.source.thread_id for event in events} == {lines[0]["id"]}
    assert {event.source.workspace for event in events} == {str(workspace)}
    written = {line["id"] for line in lines if line["type"] == "message"}
    assert written == {event.meta.message_id.partition("#")[0] for event in events if event.event.type != "status"}
    kinds = [event.event.type for event in events if event.event.type != "status"]
    assert kinds == ["message", "tool_call", "tool_result", "signal"] * 2
    for done in (log, direct):
        report = json.loads(done.stdout)
        assert report["aggregate"]["colonySignals"] == {"COMPLETE": 2}
        (task,) = report["board"]["later"]
        assert task["id"] == "TASK-REED-020"
        assert len(task["evidence"]) == 2
