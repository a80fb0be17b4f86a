"""pi sessions: lines alone, JSON alone, up to canonical events, durably through the embedded log; and a peer."""

import asyncio
import ctypes
import gc
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import orjson

from adapters.contract import Heard
from adapters.files.lines import read_lines
from adapters.sessions.pi import PiParser, pi_adapter
from ingest.cli import COLLECT_AFTER
from ingest.log.contract import Topic
from ingest.log.embedded import EmbeddedLog
from ingest.packing import pack
from ingest.processors.chain import processors
from ingest.processors.drafts import drafts
from ingest.streams.embedded import EmbeddedRunner
from schemas.captured import CapturedRecord
from tests.bench.measure import PEERS, Figure, measure, table
from tests.support.pi_corpus import write_corpus

MEGABYTES = int(os.environ.get("BENCH_MB", "60"))
FILES = 20
PR_SET_CHILD_SUBREAPER = 36
BATCH = 500


def read_alone(paths: list[Path]) -> int:
    """The floor of floors: lines, nothing done with them."""
    count = 0
    for path in paths:
        with path.open("rb", buffering=1024 * 1024) as stream:
            for _ in stream:
                count += 1
    return count


def json_alone(paths: list[Path]) -> int:
    """The floor: lines decoded by the fastest library, nothing done with what they say."""
    count = 0
    for path in paths:
        with path.open("rb", buffering=1024 * 1024) as stream:
            for line in stream:
                orjson.loads(line)
                count += 1
    return count


def heard(path: Path) -> Iterator[Heard]:
    """What the adapter hears in a file."""
    parser = PiParser(path, 0.0)
    with path.open("rb") as stream:
        for line in read_lines(stream, 0, None, final=True):
            for element in parser.feed(line):
                if isinstance(element, Heard):
                    yield element


def captured_alone(paths: list[Path]) -> int:
    """Lines to captured events."""
    return sum(1 for path in paths for _ in heard(path))


def canonical(paths: list[Path]) -> int:
    """Lines to canonical events, in memory."""
    count = 0
    for path in paths:
        batch: list[Heard] = []
        for element in heard(path):
            batch.append(element)
            if len(batch) == BATCH:
                count += len(drafts(_record(batch)))
                batch = []
        if batch:
            count += len(drafts(_record(batch)))
    return count


def _record(batch: list[Heard]) -> CapturedRecord:
    return CapturedRecord(thread=batch[0].thread, events=[element.event for element in batch])


def durable(folder: Path, topic: Topic) -> int:
    """The daemon's own way: tailer, capture, embedded log, and the normaliser; every commit is synced to the disk."""
    gc.set_threshold(COLLECT_AFTER)
    with tempfile.TemporaryDirectory() as state, EmbeddedLog.open(Path(state) / "log.db") as log:
        captured = asyncio.run(_capture(folder, log))
        if topic is Topic.CAPTURED:
            return captured
        EmbeddedRunner(log, processors()[:1]).run_until_caught_up()
        return log.end_offset(Topic.EVENTS)


async def _capture(folder: Path, log: EmbeddedLog) -> int:
    source = log.open_source("pi")
    adapter = pi_adapter("pi", [folder])
    captures = adapter.captures(source.checkpoints())
    events = 0
    async for capture in captures:
        if not capture.elements and not capture.checkpoints:  # all there is has been read
            break
        packed = pack(capture.elements, "pi", lambda: "2026-11-30T00:00:00.000Z")
        await asyncio.to_thread(source.append, packed.records, capture.checkpoints, packed.progress)
        events += packed.progress.counts.get("emitted", 0)
    await captures.aclose()
    return events


def peer(folder: Path) -> Figure | None:
    """agentsview's import of the same files into its database: all CPU of its server, from start to end."""
    command = PEERS / "agentsview"
    if not command.exists():
        return None
    size = sum(path.stat().st_size for path in folder.iterdir())
    lines = sum(1 for path in folder.iterdir() for _ in path.open("rb"))
    with tempfile.TemporaryDirectory() as home:
        shutil.copytree(folder, Path(home) / ".pi" / "agent" / "sessions" / "--srv-orchard-fen-mill--")
        env = {"HOME": home, "PATH": os.environ["PATH"], "AGENTSVIEW_TELEMETRY_ENABLED": "0"}
        return measure("agentsview sync", partial(_sync, [str(command)], env, lines), size, rounds=1, children=True)


def _sync(command: list[str], env: dict[str, str], lines: int) -> int:
    # Its server leaves the session; as a subreaper this process is told what it used.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    subprocess.run([*command, "sync"], env=env, capture_output=True, check=True, timeout=600)
    subprocess.Popen([*command, "daemon", "stop"], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with suppress(ChildProcessError):  # until the server, too, has ended
        while True:
            os.wait()
    return lines


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root) / "sessions"
        paths = write_corpus(folder, MEGABYTES, FILES)
        size = sum(path.stat().st_size for path in paths)
        floor = measure("orjson.loads alone", partial(json_alone, paths), size)
        figures = [
            measure("lines alone", partial(read_alone, paths), size),
            floor,
            measure("lines to captured events", partial(captured_alone, paths), size),
            measure("lines to canonical events", partial(canonical, paths), size),
            measure("durably captured in the log", partial(durable, folder, Topic.CAPTURED), size, rounds=2),
            measure("durably captured and normalised", partial(durable, folder, Topic.EVENTS), size, rounds=2),
        ]
        if other := peer(folder):
            figures.append(other)
        title = f"pi sessions: {size / 1e6:.0f} MB, {figures[0].count:,} lines of {size / figures[0].count:,.0f} bytes"
        print(table(title, figures, "things", floor))


if __name__ == "__main__":
    main()
