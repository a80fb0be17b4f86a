"""`make demo`: the daemon's whole pipeline over the shipped samples, then the triage report.

The samples' times are moved so that they look recent. All happens in a temporary folder; nothing of yours is read.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.support.commands import INGEST, TRIAGE, Daemon, environment, run, wait_for

SAMPLES = Path(__file__).parents[1] / "deploy" / "demo"
ISO = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
MILLISECONDS = re.compile(r'(?<="timestamp":)1\d{12}')
PROJECT = "/home/ana/ferry-app"
"""Where the samples' conversations were held; in the demo it lies in the temporary folder."""
NEWEST = datetime(2026, 11, 2, 13, 3, tzinfo=UTC)


def recent(text: str, shift: timedelta) -> str:
    """Move every time of a sample."""

    def iso(found: re.Match[str]) -> str:
        moved = datetime.fromisoformat(found[0]) + shift
        return moved.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    text = ISO.sub(iso, text)
    return MILLISECONDS.sub(lambda found: str(int(found[0]) + int(shift.total_seconds() * 1000)), text)


def lay_out(home: Path) -> Path:
    """Copy the samples into a home: pi's sessions where pi keeps them, a project with its board; gives the project."""
    shift, project = datetime.now(UTC) - timedelta(minutes=20) - NEWEST, home / "ferry-app"
    sessions = home / ".pi" / "agent" / "sessions" / "--home-ana-ferry-app--"
    sessions.mkdir(parents=True)
    for sample in sorted((SAMPLES / "sessions").iterdir()):
        words = recent(sample.read_text("utf-8"), shift).replace(PROJECT, str(project))
        (sessions / sample.name).write_text(words, "utf-8")
    for sample in sorted((SAMPLES / "drop").iterdir()):
        (home / sample.name).write_text(recent(sample.read_text("utf-8"), shift), "utf-8")
    shutil.copytree(SAMPLES / "project", project)
    return project


def main() -> int:
    """Show the way of an event from a session file to the report."""
    with tempfile.TemporaryDirectory(prefix="session-triage-demo-") as folder:
        home = Path(folder)
        project = lay_out(home)
        say("starting the daemon on four sample pi sessions: session-ingest run")
        daemon = Daemon(home)
        try:
            daemon.wait_ready()
            say("importing a sample chat beside it: session-ingest import ferry-crew.jsonl")
            done = run(INGEST, "import", home / "ferry-crew.jsonl", home=home)
            sys.stdout.write(done.stderr.decode())
            wait_for("the pipeline to catch up", lambda: caught_up(home))
            say("session-ingest status")
            sys.stdout.write(run(INGEST, "status", home=home).stdout.decode())
            say("session-triage --log --workspace ferry-app")
            sys.stdout.flush()
            report = [TRIAGE, "--log", "--workspace", str(project)]
            subprocess.run(report, env=environment(home), check=False)
            say("session-triage board list --workspace ferry-app")
            sys.stdout.flush()
            subprocess.run([TRIAGE, "board", "list", "--workspace", str(project)], env=environment(home), check=False)
        finally:
            stopped = daemon.stop()
        say(f"the daemon stopped with exit status {stopped}; the temporary folder is gone")
        return stopped


def caught_up(home: Path) -> bool:
    """Whether every processor has no lag, as `status --json` tells."""
    import json  # noqa: PLC0415

    status = json.loads(run(INGEST, "status", "--json", home=home).stdout)
    return all(group["lag"] == 0 for group in status["processors"]) and bool(status["sources"])


def say(words: str) -> None:
    """Tell what happens next."""
    sys.stdout.write(f"\n── {words}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
