"""Promise: of sources under one name each is asked for more only after its last capture is committed."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from adapters.contract import Capture, PermanentSourceError, Warned
from adapters.files.merge import merged


def capture(name: str) -> Capture:
    return Capture([Warned(name, "")], {name: b"state"})


async def numbered(name: str, count: int, asked: list[str]) -> AsyncIterator[Capture]:
    """Give so many captures; `asked` notes each time that more is asked for."""
    try:
        for number in range(count):
            asked.append(f"{name}{number}")
            yield capture(f"{name}{number}")
    finally:
        asked.append(f"{name} closed")


def test_all_captures_come_and_none_is_asked_for_before_the_last_is_committed() -> None:
    async def run() -> None:
        asked: list[str] = []
        committed: list[str] = []
        async for given in merged(numbered("a", 3, asked), numbered("b", 2, asked)):
            name = given.elements[0].where
            await asyncio.sleep(0.01)
            assert f"{name[0]}{int(name[1]) + 1}" not in asked
            committed.append(name)
        assert sorted(committed) == ["a0", "a1", "a2", "b0", "b1"]
        assert [name for name in committed if name[0] == "a"] == ["a0", "a1", "a2"]

    asyncio.run(run())


def test_closing_ends_all_sources() -> None:
    async def run() -> list[str]:
        asked: list[str] = []
        source = merged(numbered("a", 9, asked), numbered("b", 9, asked))
        await anext(source)
        await source.aclose()
        return asked

    assert {"a closed", "b closed"} <= set(asyncio.run(run()))


def test_what_one_raises_ends_them_all() -> None:
    async def broken() -> AsyncIterator[Capture]:
        yield capture("c0")
        raise PermanentSourceError("no permission")

    async def run() -> list[str]:
        asked: list[str] = []
        with pytest.raises(PermanentSourceError, match="no permission"):
            async for _ in merged(broken(), numbered("a", 10_000_000, asked)):
                pass
        return asked

    assert asyncio.run(run())[-1] == "a closed"
