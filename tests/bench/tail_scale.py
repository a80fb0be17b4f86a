"""The tailer at scale: 100,000 known files at start, 10,000 idle ones, and how soon an appended line is an event."""

import asyncio
import json
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from adapters.files.tail import JsonlTailAdapter
from adapters.sessions.pi import pi_adapter
from ingest.log.contract import Topic
from ingest.log.embedded import EmbeddedLog
from tests.bench.measure import cpu_of
from tests.support.commands import Daemon
from tests.support.pi_corpus import SessionWriter

KNOWN = int(os.environ.get("BENCH_KNOWN_FILES", "100000"))
IDLE = int(os.environ.get("BENCH_IDLE_FILES", "10000"))
IDLE_SECONDS = 30
SETTLE_SECONDS = 210
"""A minute after the back-fill the old threads' summaries are due, 500 at a time: 10,000 take two minutes more."""
OLD = time.time() - 86_400
"""Files that changed lately are looked at every second; idle ones are old."""
APPENDS = 40


def _files(folder: Path, count: int) -> None:
    for number in range(count):
        place = folder / f"{number // 1000:03d}"
        place.mkdir(parents=True, exist_ok=True)
        writer = SessionWriter(number)
        lines = writer.lines()
        path = place / writer.name
        path.write_bytes(writer.header() + next(lines))
        os.utime(path, (OLD, OLD))


async def _until_idle(adapter: JsonlTailAdapter, checkpoints: dict[str, bytes]) -> dict[str, bytes]:
    """Read everything, as a log that keeps only the checkpoints would."""
    kept = dict(checkpoints)
    captures = adapter.captures(checkpoints)
    async for capture in captures:
        kept |= {part: state for part, state in capture.checkpoints.items() if state is not None}
        if not capture.elements and not capture.checkpoints:
            break
    await captures.aclose()
    return kept


def known_files(folder: Path) -> str:
    """From the checkpoints of all files to the end of the first search, nothing having changed."""
    _files(folder, KNOWN)
    started = time.perf_counter()
    checkpoints = asyncio.run(_until_idle(pi_adapter("pi", [folder]), {}))
    first = time.perf_counter() - started
    started = time.perf_counter()
    asyncio.run(_until_idle(pi_adapter("pi", [folder]), checkpoints))
    again = time.perf_counter() - started
    return f"{KNOWN:,} files: first read {first:.1f} s; start with all of them known {again:.1f} s (goal: under 5 s)"


@contextmanager
def _daemon(home: Path) -> Iterator[Daemon]:
    daemon = Daemon(home)
    try:
        daemon.wait_ready(300)
        yield daemon
    finally:
        daemon.stop()


def idle_tailer(folder: Path) -> str:
    """CPU of the tailer alone while nothing happens."""
    _files(folder, IDLE)
    used = asyncio.run(_idle_share(pi_adapter("pi", [folder])))
    return f"{IDLE:,} idle files: the tailer alone uses {used:.2%} of a core (goal: under 1 %)"


async def _idle_share(adapter: JsonlTailAdapter) -> float:
    captures = adapter.captures({})
    async for capture in captures:
        if not capture.elements and not capture.checkpoints:
            break
    following = asyncio.ensure_future(anext(captures))
    before = time.process_time()
    await asyncio.sleep(2 * IDLE_SECONDS)  # two searches of everything
    used = (time.process_time() - before) / (2 * IDLE_SECONDS)
    following.cancel()
    await asyncio.wait([following])
    await captures.aclose()
    return used


def idle_files(home: Path) -> str:
    """CPU of the whole daemon while nothing happens."""
    _files(home / ".pi" / "agent" / "sessions", IDLE)
    with _daemon(home) as daemon:
        time.sleep(SETTLE_SECONDS)
        before = cpu_of(daemon.process.pid)
        time.sleep(IDLE_SECONDS)
        used = (cpu_of(daemon.process.pid) - before) / IDLE_SECONDS
    return f"{IDLE:,} idle files: the daemon uses {used:.2%} of a core (goal: under 1 %)"


def latency(home: Path) -> str:
    """From a line's write to its event in `conversations.events`, the daemon running."""
    writer = SessionWriter(1)
    path = home / ".pi" / "agent" / "sessions" / writer.name
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = writer.lines()
    path.write_bytes(writer.header())
    with _daemon(home) as daemon:
        log = EmbeddedLog.open(daemon.state / "log.db", read_only=True)
        delays = [_delay(path, next(lines), log) for _ in range(APPENDS)]
        log.close()
    middle, worst = statistics.median(delays), max(delays)
    return f"{APPENDS} live appends: an event after {middle * 1000:.0f} ms, at worst {worst * 1000:.0f} ms (goal: 1 s)"


def _delay(path: Path, line: bytes, log: EmbeddedLog) -> float:
    entry = json.loads(line)["id"]
    after = log.end_offset(Topic.EVENTS)
    started = time.perf_counter()
    with path.open("ab") as stream:
        stream.write(line)
    while not any(entry.encode() in record.value for record in log.read(Topic.EVENTS, after, 100, 2**20)):
        time.sleep(0.001)
        if time.perf_counter() - started > 30:
            raise AssertionError(f"{entry} never came")
    return time.perf_counter() - started


def main() -> None:
    """Print the figures."""
    for work in [
        globals()[name] for name in os.environ.get("BENCH_TAIL", "known_files idle_tailer idle_files latency").split()
    ]:
        with tempfile.TemporaryDirectory() as folder:
            print(work(Path(folder)))


if __name__ == "__main__":
    main()
