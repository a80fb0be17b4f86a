"""Promise: the live adapter delivers an append soon, with a watch or without, and reads on only after a commit."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from adapters.contract import Adapter, Capture
from adapters.files.tail import JsonlTailAdapter, TailStats
from tests.support.tail import LineEcho, Sink, append, line, lines, told

PATIENCE = 30
"""Seconds until a test gives up; how soon a line comes is measured by the benchmark."""


def adapter(*roots: Path, **options: Any) -> JsonlTailAdapter:
    return JsonlTailAdapter("test", roots, LineEcho, **options)


class Follower:
    """Runs an adapter as capture does: commit, then ask for the next."""

    def __init__(self, source: Adapter, sink: Sink) -> None:
        self.sink = sink
        self.captures: AsyncIterator[Capture] = source.captures(dict(sink.checkpoints))

    async def until(self, count: int) -> list[str]:
        """Follow until the sink holds that many lines."""
        async with asyncio.timeout(PATIENCE):
            while len(self.sink.heard) < count:
                self.sink.commit(await anext(self.captures))
        return self.sink.texts

    async def close(self) -> None:
        await self.captures.aclose()  # type: ignore[attr-defined]


def run(body: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(body())  # type: ignore[arg-type]


WAYS = [
    pytest.param({"sweep_seconds": 3600.0, "poll_seconds": 3600.0}, id="watch alone"),
    pytest.param({"watch": False, "poll_seconds": 0.05}, id="polling alone"),
    pytest.param({}, id="as it is"),
]


@pytest.mark.parametrize("options", WAYS)
def test_append_after_append_arrives(tmp_path: Path, options: dict[str, Any]) -> None:
    """Append after append after append, and a new file: each arrives, whichever way changes are found."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines("0"))

    async def body() -> None:
        follower = Follower(adapter(tmp_path, **options), Sink())
        assert await follower.until(1) == told("0")
        waiting = asyncio.ensure_future(follower.until(2))
        await asyncio.sleep(0.5)  # until the watch stands
        append(path, line("1"))
        await waiting
        for number in (2, 3):
            append(path, line(str(number)))
            await follower.until(number + 1)
        (tmp_path / "b.jsonl").write_bytes(lines("new"))
        assert await follower.until(5) == told("0", "1", "2", "3", "new")
        await follower.close()

    run(body)


def test_new_folder_with_a_file_is_found_by_the_watch(tmp_path: Path) -> None:
    """A folder that appears with its file in it is searched at once, not at the next round."""

    async def body() -> None:
        follower = Follower(adapter(tmp_path, sweep_seconds=3600.0, poll_seconds=3600.0), Sink())
        waiting = asyncio.ensure_future(follower.until(1))
        await asyncio.sleep(0.5)
        folder = tmp_path / "--w--" / "nested"
        folder.mkdir(parents=True)
        (folder / "a.jsonl").write_bytes(lines("1"))
        assert await waiting == told("1")
        await follower.close()

    run(body)


def test_next_slice_is_read_only_after_the_former_is_committed(tmp_path: Path) -> None:
    """B11, B21: a consumer that stops at any capture and starts again gets the rest: nothing lost, nothing twice."""
    (tmp_path / "a.jsonl").write_bytes(lines(*map(str, range(9000))))

    async def body() -> None:
        source, sink = adapter(tmp_path), Sink()
        while len(sink.heard) < 9000:
            follower = Follower(source, sink)
            async with asyncio.timeout(PATIENCE):
                sink.commit(await anext(follower.captures))
                await anext(follower.captures) if len(sink.heard) < 9000 else None  # read, and never committed
            await follower.close()
        assert sink.texts == told(*map(str, range(9000)))
        assert sink.numbers == list(range(1, 9001))

    run(body)


def test_error_at_the_consumer_ends_the_iteration_cleanly(tmp_path: Path) -> None:
    """An exception thrown in at a capture leaves nothing open, and a new iteration begins at the last commit."""
    (tmp_path / "a.jsonl").write_bytes(lines("1"))

    async def body() -> None:
        source, sink = adapter(tmp_path), Sink()
        captures = source.captures({})
        await anext(captures)
        with pytest.raises(OSError, match="disk full"):
            await captures.athrow(OSError("disk full"))  # type: ignore[attr-defined]
        assert source.stats() == TailStats()
        assert await Follower(source, sink).until(1) == told("1")

    run(body)


def test_cancelling_while_waiting_ends_soon(tmp_path: Path) -> None:
    """A stop does not wait for the next round."""

    async def body() -> None:
        task = asyncio.ensure_future(Follower(adapter(tmp_path, sweep_seconds=3600.0), Sink()).until(1))
        await asyncio.sleep(0.3)
        task.cancel()
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(asyncio.CancelledError):
                await task

    run(body)


def test_watch_that_cannot_be_had_is_told_and_polling_goes_on(tmp_path: Path) -> None:
    """No more watches to be had: one warning, and lines arrive all the same."""

    async def body() -> None:
        sink = Sink()
        with mock.patch("adapters.files.watch.awatch", side_effect=OSError(28, "no space left on device")):
            follower = Follower(adapter(tmp_path, poll_seconds=0.05), sink)
            for number in range(3):
                append(tmp_path / "a.jsonl", line(str(number)))
                await follower.until(number + 1)
            await follower.close()
        assert sink.texts == told("0", "1", "2")
        [warning] = sink.warnings
        assert warning.startswith("changes are found by polling only: OSError")

    run(body)


def test_root_that_appears_later_is_watched(tmp_path: Path) -> None:
    """E15: the adapter waits for its roots, then follows them."""
    root = tmp_path / "later"

    async def body() -> None:
        follower = Follower(adapter(root, poll_seconds=0.05), Sink())
        waiting = asyncio.ensure_future(follower.until(1))
        await asyncio.sleep(0.2)
        root.mkdir()
        (root / "a.jsonl").write_bytes(lines("1"))
        await waiting
        append(root / "a.jsonl", line("2"))
        assert await follower.until(2) == told("1", "2")
        await follower.close()

    run(body)


def test_figures_are_there_while_it_runs(tmp_path: Path) -> None:
    """Figures for metrics, zeros when it does not run."""
    (tmp_path / "a.jsonl").write_bytes(lines("1"))

    async def body() -> None:
        source = adapter(tmp_path)
        assert source.stats() == TailStats()
        follower = Follower(source, Sink())
        await follower.until(1)
        assert source.stats().files_known == 1
        assert source.stats().bytes_read == len(line("1"))
        await follower.close()

    run(body)
