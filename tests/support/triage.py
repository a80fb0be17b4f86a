"""Events, boards, session files and runs of `session-triage` for the tests of the triage."""

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from schemas.event import CanonicalEvent, Event, EventMeta, Refs, Source
from triage.cli import app
from triage.report.gather import Gatherer
from triage.report.tally import Tally

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)

_numbers = itertools.count(1)


def ago(hours: float, now: datetime | None = None) -> str:
    """Give the time some hours before now, as an event has it."""
    moment = (now or datetime.now(UTC)) - timedelta(hours=hours)
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def event(
    text: str = "words",
    role: str = "assistant",
    *,
    hours: float = 1,
    type: str = "message",  # noqa: A002 - the member's name
    id: str | None = None,  # noqa: A002
    thread: str = "t1",
    provider: str = "pi",
    branch: str | None = None,
    workspace: str | None = "/home/ana/fen-mill",
    labels: Sequence[str] = (),
    tasks: Sequence[str] = (),
    runs: Sequence[str] = (),
    now: datetime = NOW,
    **meta: Any,
) -> CanonicalEvent:
    """Make an event; `hours` is how long ago it was said."""
    refs = Refs(task_ids=list(tasks), run_ids=list(runs)) if tasks or runs else None
    return CanonicalEvent(
        schema_version="1.0",
        source=Source(
            provider=provider, provider_account_key=provider, thread_id=thread, branch_id=branch, workspace=workspace
        ),
        event=Event(
            id=id or f"event-{next(_numbers)}",
            type=type,  # type: ignore[arg-type]  # tests give words of the contract
            timestamp_iso=ago(hours, now),
            role=role,  # type: ignore[arg-type]
            text=text,
            labels=list(labels),
            refs=refs,
        ),
        meta=EventMeta(**meta),
    )


def gathered(events: Iterable[CanonicalEvent], tasks: Sequence[str] = (), days: float = 1) -> Gatherer:
    """Give a gatherer that has taken the events, as those of one file."""
    gatherer = Gatherer(ago(days * 24, NOW), list(tasks))
    source = gatherer.source(Tally("canonical:events.jsonl", "/events.jsonl", ago(0, NOW), by_entry=False))
    for one in events:
        gatherer.add(one, source, obeys_cutoff=True)
    return gatherer


def flat(text: str, role: str = "user", **members: Any) -> dict[str, Any]:
    """Make a flat event, as scripts in the wild write them."""
    return {"role": role, "text": text, **members}


def canonical(text: str, role: str = "user", hours: float = 1, **members: Any) -> dict[str, Any]:
    """Make a canonical event of the real clock, as a JSON object; members go to `event`."""
    thread, provider = members.pop("thread", "t1"), members.pop("provider", "pi")
    return {
        "schemaVersion": "1.0",
        "source": {"provider": provider, "providerAccountKey": provider, "threadId": thread},
        "event": {
            "id": f"event-{next(_numbers)}",
            "type": "message",
            "timestampIso": ago(hours),
            "role": role,
            "text": text,
            **members,
        },
    }


def jsonl(values: Iterable[Any], end: str = "\n") -> bytes:
    """Write values as lines."""
    return "".join(json.dumps(value, ensure_ascii=False) + end for value in values).encode("utf-8", "surrogatepass")


def write_board(workspace: Path, tasks: object, **sisters: object) -> Path:
    """Write `.project/tasks.json`; a value that is bytes is written as it stands."""
    folder = workspace / ".project"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "tasks.json"
    path.write_bytes(tasks if isinstance(tasks, bytes) else json.dumps({"tasks": tasks}).encode())
    for name, value in sisters.items():
        (folder / f"{name}.json").write_text(json.dumps(value))
    return path


def task(id: str, status: str = "planned", description: str = "Cut the reeds", **members: Any) -> dict[str, Any]:  # noqa: A002
    """Make a task of the board."""
    return {"id": id, "status": status, "description": description, **members}


@dataclass
class PiSession:
    """Writes a pi session file, entry by entry."""

    path: Path
    cwd: str
    hours: float = 1
    identifier: str = "5e55104e-0000-4000-8000-000000000001"

    def __post_init__(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._last: str | None = None
        self._count = 0
        header = {"type": "session", "version": 3, "id": self.identifier, "timestamp": ago(self.hours), "cwd": self.cwd}
        self.path.write_text(json.dumps(header) + "\n")

    def add(self, entry: Mapping[str, Any]) -> "PiSession":
        """Append an entry with an id, a parent and a time of its own."""
        self._count += 1
        identifier = f"{self._count:08x}"
        moment = datetime.now(UTC) - timedelta(hours=self.hours) + timedelta(seconds=self._count)
        stamp = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        whole = {"type": "message", "id": identifier, "parentId": self._last, "timestamp": stamp, **entry}
        self._last = identifier
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(whole, ensure_ascii=False) + "\n")
        return self

    def say(self, role: str, text: str, **members: Any) -> "PiSession":
        """Append a message of one text block."""
        return self.add({"message": {"role": role, "content": [{"type": "text", "text": text}], **members}})


class Home:
    """A home, a workspace in it, and runs of the command there that see nothing else of this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.workspace = folder / "fen-mill"
        self.workspace.mkdir(parents=True)
        self.environment = {
            "HOME": str(folder),
            "XDG_STATE_HOME": str(folder / ".local/state"),
            "XDG_CONFIG_HOME": str(folder / ".config"),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
        }

    def run(self, *arguments: object, stdin: bytes | None = None) -> "Outcome":
        """Run in this process; the workspace is given unless the arguments name one."""
        words = [str(a) for a in arguments]
        if "--workspace" not in words:
            words += ["--workspace", str(self.workspace)]
        unset = {"PI_CODING_AGENT_DIR": None, "PI_CODING_AGENT_SESSION_DIR": None, "NO_COLOR": None}
        result = CliRunner().invoke(app, words, input=stdin, env={**unset, **self.environment}, catch_exceptions=False)
        return Outcome(result.exit_code, result.stdout, result.stderr)

    def start(self, *arguments: object, stdin: bytes = b"") -> "Outcome":
        """Run as a process of its own."""
        command = [sys.executable, "-c", "from triage.cli import main; main()", *map(str, arguments)]
        environment = {**self.environment, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            command, input=stdin, capture_output=True, cwd=self.workspace, env=environment, timeout=60, check=False
        )
        return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())

    def file(self, name: str, content: bytes) -> Path:
        """Write a file in the home."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def pi_folder(self) -> Path:
        """Give pi's own folder for a workspace; its name must not matter."""
        return self.folder / ".pi/agent/sessions/--any-name--"

    def tree(self) -> dict[str, tuple[int, int]]:
        """Give every file with its size and its time of change."""
        files = (path for path in self.folder.rglob("*") if path.is_file())
        return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in files}


@dataclass(frozen=True)
class Outcome:
    """What a run of the command gave."""

    status: int
    stdout: str
    stderr: str

    @property
    def report(self) -> dict[str, Any]:
        """The JSON on standard output, which holds nothing else."""
        value = json.loads(self.stdout)
        assert isinstance(value, dict)
        return value
