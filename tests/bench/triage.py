"""The triage at size: a million events in ten thousand threads, five thousand tasks: the consumer, and the report.

`python -m tests.bench.triage [EVENTS]`. The log holds what the processors would have written: events, the signals that
derive from them, and a summary for each hundred events. Threads write in turns of ten events, as sessions do.
"""

import itertools
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ingest.log.contract import NewRecord, Topic
from ingest.log.embedded import EmbeddedLog
from ingest.places import TRIAGE_DB
from schemas.event import CanonicalEvent
from tests.bench.start_up import _best
from tests.support.commands import TRIAGE, environment
from tests.support.consumer import records_of
from tests.support.log import quick_folder
from tests.support.triage import event
from triage.reader import Reader
from triage.store.database import Store

EVENTS = 1_000_000
THREADS = 10_000
TASKS = 5_000
TURN = 10
APPEND = 5_000
PROSE = (
    "The lock's upper gate moves again; I cleaned the paddles and measured the leak twice, see the log for figures. "
)


MIX: tuple[tuple[float, dict[str, Any]], ...] = (
    (0.010, {"text": "## Next Steps\n- paint hull {some}\n", "role": "system", "type": "summary"}),
    (0.003, {"text": "[COLONY_SIGNAL:COMPLETE] [c1] {task}", "type": "signal", "tasks": True}),
    (0.002, {"text": "[COLONY_SIGNAL:FAILED] [c1] {task}", "type": "signal", "tasks": True}),
    (0.005, {"text": f"{PROSE}\n- idea: a bell number {{some}}", "role": "user"}),
    (0.005, {"text": "Blocked: {task} needs a key", "tasks": True}),
    (
        0.005,
        {
            "text": "bash: frobnicate: command not found",
            "role": "tool",
            "type": "tool_result",
            "labels": ["error"],
            "tool_name": "bash",
        },
    ),
    (0.070, {"text": PROSE * 3 + "Shall I go on?", "tasks": True}),
    (0.250, {"text": PROSE * 3}),
    (0.150, {"text": PROSE, "role": "user"}),
    (0.250, {"text": f"bash {PROSE}", "type": "tool_call"}),
    (0.250, {"text": PROSE * 2, "role": "tool", "type": "tool_result"}),
)
"""What coding sessions say, and how often."""


def one(number: int, draw: random.Random, workspace: Path) -> CanonicalEvent:
    """Give one event."""
    (chosen,) = draw.choices([form for _, form in MIX], [share for share, _ in MIX])
    task = f"TASK-BUD-{draw.randrange(TASKS)}"
    return event(
        **{
            **chosen,
            "text": chosen["text"].format(task=task, some=draw.randrange(2000)),
            "tasks": [task] if chosen.get("tasks") else [],
            "id": f"event-{number}",
            "thread": f"thread-{number // TURN % THREADS}",
            "hours": 20 * (1 - number / EVENTS) + 1,
            "workspace": str(workspace),
        }
    )


def records(count: int, workspace: Path) -> Iterator[list[NewRecord]]:
    """Give what to append, by the batch."""
    draw = random.Random(1)
    made = (one(number, draw, workspace) for number in range(count))
    while batch := list(itertools.islice(made, APPEND)):
        yield records_of(batch)


def fill(log: EmbeddedLog, count: int, workspace: Path) -> None:
    """Write the log."""
    for batch in records(count, workspace):
        log.append(batch)


def consume(log: EmbeddedLog, place: Path) -> None:
    """Work the log off, and print how fast that was."""
    waiting = sum(log.end_offset(topic) for topic in (Topic.EVENTS, Topic.SIGNALS, Topic.SUMMARIES))
    with Store.open(place) as store:
        reader = Reader(log, store, "bench")
        before, started = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
        slowest = 0.0
        while True:
            begun = time.perf_counter()
            if reader.step() is None:
                break
            slowest = max(slowest, time.perf_counter() - begun)
        wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_SELF)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(
            f"consumer: {waiting:,} records in {wall:.1f} s = {waiting / wall:,.0f}/s wall,"
            f" {waiting / cpu:,.0f}/s CPU; slowest batch {slowest:.2f} s; peak {after.ru_maxrss / 1024:.0f} MB"
        )
        reader.positions = dict.fromkeys(reader.positions, 0)
        started = time.perf_counter()
        for _ in range(10):
            reader.step()
        print(f"the same again: {40_000 / (time.perf_counter() - started):,.0f}/s wall, nothing written but offsets")


def report(home: Path) -> None:
    """Print how long the report takes with that store and a board of that size."""
    workspace = home / "ferry"
    (workspace / ".project").mkdir(parents=True)
    tasks = [{"id": f"TASK-BUD-{n}", "status": "in-progress", "description": f"Work {n}"} for n in range(TASKS)]
    (workspace / ".project" / "tasks.json").write_text(json.dumps({"tasks": tasks}))
    command = [TRIAGE, "--json", "--workspace", workspace]
    done = subprocess.run([*map(str, command)], env=environment(home), capture_output=True, check=True)
    shown = json.loads(done.stdout)["proposals"]
    cpu, wall = _best(home, *command)
    count = len(shown["unlockNow"]) + len(shown["later"])
    print(f"report: {cpu:.2f} s CPU, {wall:.2f} s; {count:,} proposals shown, {shown['heldBack']:,} held back")


def main(count: int = EVENTS) -> None:
    """Print the figures."""
    with quick_folder() as memory, tempfile.TemporaryDirectory() as disk:
        home = Path(disk)
        state = home / "state" / "session-triage"
        state.mkdir(parents=True)
        with EmbeddedLog.open(memory / "log.db") as log:
            fill(log, count, home / "ferry")
            print(f"{count:,} events, {THREADS:,} threads, {TASKS:,} tasks; the log in memory, the store on disk")
            consume(log, state / TRIAGE_DB)
        report(home)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:2]))
