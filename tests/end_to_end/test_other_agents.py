"""Claude Code and Codex sessions are followed live once they are switched on, each event once, across a restart."""

import shutil
from pathlib import Path

import pytest

from ingest.log.contract import Topic
from ingest.log.embedded import EmbeddedLog
from schemas.event import decode
from tests.support.commands import Daemon, wait_for

CASES = Path(__file__).parents[1] / "cases" / "sessions"
AGENTS = {
    "claude_code": (CASES / "31-claude-code-lines-share-message-id" / "input.jsonl", ".claude/projects/-w", 1),
    "codex": (CASES / "35-codex-prompt-in-three-forms" / "input", ".codex/sessions/2026/03/08", 3),
}


def events(daemon: Daemon) -> list:
    path = daemon.state / "log.db"
    if not path.exists():
        return []
    with EmbeddedLog.open(path, read_only=True) as log:
        return [decode(record.value) for record in log.read(Topic.EVENTS, 0, 10_000, 2**30)]


@pytest.mark.parametrize("agent", AGENTS)
def test_sessions_of_the_agent_arrive_once(agent: str, tmp_path: Path) -> None:
    sample, place, threads = AGENTS[agent]
    folder = tmp_path / place
    folder.mkdir(parents=True)
    switch = {f"SESSION_INGEST__SOURCES__{agent.upper()}__ENABLED": "true"}
    daemon = Daemon(tmp_path, **switch)
    daemon.wait_ready()
    for file in sorted(sample.iterdir()) if sample.is_dir() else [sample]:
        shutil.copy(file, folder)
    wait_for("every thread", lambda: len({event.source.thread_id for event in events(daemon)}) == threads)
    assert daemon.stop() == 0
    seen = events(daemon)
    again = Daemon(tmp_path, **switch)
    again.wait_ready()
    assert again.stop() == 0
    assert [event.event.id for event in events(again)] == [event.event.id for event in seen]
    assert len({event.event.id for event in seen}) == len(seen)
    assert {event.source.provider for event in seen} == {agent.replace("_", "-")}
