"""The log takes nothing for a while: no cursor moves, memory is bounded, readiness says why; then all of it arrives.

Issue 5, "It must show", for every live source at once in the real daemon: Telegram by polling and by webhook, Matrix,
WhatsApp, Signal, custom events and the session files of three agents.
"""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.daemon import Home, eventually, texts_by_thread
from tests.support.every_source import EverySource
from tests.support.load import Burst, resident_bytes
from tests.support.standstill import EACH, Standstill, most_memory, reasons
from tests.support.stopped_sinks import full, held, small_disk

pytestmark = pytest.mark.timeout(900)
"""A log is given up for a while after ten seconds only, and found to be back after a pause that has grown."""

FLOOD = 2_000
FLOOD_CHARS = 3_900
"""Together 15 MB for each source that is asked for more: who held them would show it."""

MAX_GROWTH_BYTES = 40 * 1024 * 1024
"""A capture and its records for each of nine sources, bodies of requests, and what the allocator keeps."""

PULLED = ("telegram.ops", "matrix.ops", "pi", "claude_code", "codex")
"""Sources that are asked for more, and whose speakers wait for nobody."""


def standstill(sources: EverySource, why: str) -> Standstill:
    sources.home.start()
    return Standstill(sources, lambda: texts_by_thread(sources.home), why)


def checkpoints(home: Home) -> set[tuple[str, str, bytes]]:
    """All that the log knows of cursors."""
    with closing(sqlite3.connect(f"file:{home.state / 'log.db'}?mode=ro", uri=True, timeout=30)) as connection:
        return set(connection.execute("SELECT source, part, state FROM checkpoints"))


def every_source_says_so(still: Standstill) -> bool:
    told = reasons(still.sources.home)
    refused = [f"source {name}: backing-off: the log refuses" for name in still.sources.speakers]
    return all(any(each.startswith(start) and still.why in each for each in told) for start in refused)


def test_another_writer_holds_the_log_for_a_while(tmp_path: Path) -> None:
    """Far more arrives meanwhile than memory should take."""
    with EverySource(tmp_path, EACH) as sources:
        still = standstill(sources, "is held by another process")
        still.begin()
        before, memory = checkpoints(sources.home), resident_bytes(still.pid)
        flood = Burst([each for name in PULLED for each in sources.speakers[name]], FLOOD, FLOOD_CHARS)
        with held(sources.home.state / "log.db"), still.refused() as burst:
            burst.join(PULLED)
            flood.start()
            flood.join()
            eventually(lambda: every_source_says_so(still), 120)
            most = most_memory(still.pid, 5)
            assert checkpoints(sources.home) == before
        assert most - memory < MAX_GROWTH_BYTES, f"{memory / 2**20:.0f} MB became {most / 2**20:.0f} MB"
        still.end(burst)


def test_the_disk_is_full_for_a_while(tmp_path: Path) -> None:
    """A real file system without a byte left, which holds the log and the journal of Signal."""
    with small_disk(tmp_path / "state", 64) as disk, EverySource(tmp_path, EACH) as sources:
        still = standstill(sources, "no space left")
        still.begin()
        before = checkpoints(sources.home)
        with full(disk), still.refused() as burst:
            eventually(lambda: every_source_says_so(still), 120)
            assert checkpoints(sources.home) == before
        still.end(burst)
