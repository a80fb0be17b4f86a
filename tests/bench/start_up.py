"""How long a person waits: --help, and a report over a file of events."""

import resource
import subprocess
import tempfile
import time
from pathlib import Path

from tests.support.commands import INGEST, TRIAGE, environment
from tests.support.pi_corpus import write_corpus

ROUNDS = 5


def _best(home: Path, *command: str | Path) -> tuple[float, float]:
    """The least CPU and the least wall seconds of several runs."""
    rows = []
    for _ in range(ROUNDS):
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run([*map(str, command)], env=environment(home), capture_output=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        rows.append(
            (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.perf_counter() - started)
        )
    return min(cpu for cpu, _ in rows), min(wall for _, wall in rows)


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        write_corpus(home / "sessions", 5, 4)
        events = home / "events.jsonl"
        subprocess.run(
            [INGEST, "import", "--output", events, home / "sessions"],
            env=environment(home),
            capture_output=True,
            check=True,
        )
        count = sum(1 for _ in events.open("rb"))
        for name, command in {
            "session-triage --help (goal: under 0.3 s of CPU)": [TRIAGE, "--help"],
            "session-ingest --help": [INGEST, "--help"],
            f"session-triage --events, {count:,} events": [TRIAGE, "--events", events, "--days", "100000", "--json"],
        }.items():
            cpu, wall = _best(home, *command)
            print(f"{name}: {cpu:.2f} s CPU, {wall:.2f} s")


if __name__ == "__main__":
    main()
