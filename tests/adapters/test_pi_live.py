"""Promise: a live pi session is followed through what the agent does to its file, each event once."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from adapters.contract import Element
from adapters.sessions.pi import pi_adapter
from tests.support.pi import FILE, HEADER, SESSION, assistant, file_of, heard, ids, line, texts, user

TITLE = b'{"type":"title","v":1,"title":"%s","pad":"'


def follow(root: Path, *steps: Callable[[], object]) -> list[list[Element]]:
    """Take each step, and give what the source captured until it was at rest again."""

    async def run() -> list[list[Element]]:
        source = pi_adapter("pi", [root]).captures({})
        given: list[list[Element]] = []
        waiting = asyncio.ensure_future(anext(source))
        for step in steps:
            step()
            taken: list[Element] = []
            while True:
                done, _ = await asyncio.wait({waiting}, timeout=1.5)
                if not done:
                    break
                taken += waiting.result().elements
                waiting = asyncio.ensure_future(anext(source))
            given.append(taken)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await source.aclose()
        return given

    return asyncio.run(run())


def test_a_file_that_appears_with_old_lines_and_then_grows(tmp_path: Path) -> None:
    """B18, B2: the first flush comes in one burst; half a line waits for its other half."""
    path = tmp_path / "--w--" / FILE
    more = line(user("c", "b", "three")) + b"\n"

    def burst() -> None:
        path.parent.mkdir()
        path.write_bytes(file_of(HEADER, user("a", None, "one"), assistant("b", "a", "two")))

    def append(data: bytes) -> None:
        with path.open("ab") as stream:
            stream.write(data)

    burst_given, half, rest = follow(tmp_path, burst, lambda: append(more[:30]), lambda: append(more[30:]))
    assert texts(burst_given) == ["one", "two"]
    assert texts(half) == []
    assert texts(rest) == ["three"]
    assert heard(rest)[0].event.parent_message_id == "b"
    assert {h.thread.thread_id for h in heard(burst_given + rest)} == {SESSION}


def test_a_file_rewritten_in_place_keeps_its_ids(tmp_path: Path) -> None:
    """B4: opened by a newer agent; what is told again has the ids it had, so that only the new is new downstream."""
    path = tmp_path / FILE
    header = {key: value for key, value in HEADER.items() if key != "version"}
    old = file_of(header, user(None, None, "one"), assistant(None, None, "two"))
    new = file_of(HEADER, user("r1", None, "one"), assistant("r2", "r1", "two"), user("r3", "r2", "three"))
    first, second = follow(tmp_path, lambda: path.write_bytes(old), lambda: path.write_bytes(new))
    assert texts(first) == ["one", "two"]
    assert set(ids(first)) <= set(ids(second)) | set(ids(first))
    assert len(set(ids(first)) | set(ids(second))) == 3


def test_a_file_deleted_and_re_created_without_a_header(tmp_path: Path) -> None:
    """B9: the next append brings it back headerless; its entries are told under the id in its name."""
    path = tmp_path / FILE
    first, _, third = follow(
        tmp_path,
        lambda: path.write_bytes(file_of(HEADER, user("a", None, "one"))),
        path.unlink,
        lambda: path.write_bytes(file_of(user("b", "a", "Still there?"))),
    )
    assert texts(first) == ["one"]
    assert texts(third) == ["Still there?"]
    assert heard(third)[0].thread.thread_id == SESSION


def test_a_title_overwritten_in_place_tells_nothing(tmp_path: Path) -> None:
    """B10, E11."""
    path = tmp_path / FILE

    def titled(title: bytes) -> bytes:
        start = TITLE % title
        return start + b"." * (256 - len(start) - 3) + b'"}\n' + file_of(HEADER, user("a", None, "one"))

    first, second = follow(
        tmp_path, lambda: path.write_bytes(titled(b"low water")), lambda: path.write_bytes(titled(b"high water, again"))
    )
    assert texts(first) == ["one"]
    assert second == []
