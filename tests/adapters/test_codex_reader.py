"""Promise: Codex rollouts are found, read whole whether compressed or not, and followed live."""

import asyncio
import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from adapters.contract import HEAD_BYTES, Element, FileHead, PermanentSourceError, ReadOptions
from adapters.files.finished import FIRST_SEEN
from adapters.sessions import codex_live
from adapters.sessions.codex import CodexExecReader, CodexReader, codex_adapter, default_roots
from tests.support.codex import FILE, SESSION, answered, asked, asked_event, item, meta, turn
from tests.support.sessions import file_of, heard, ids, line, rejected, texts, threads, warned

zstd = pytest.importorskip("backports.zstd" if sys.version_info < (3, 14) else "compression.zstd")

LINES = [meta(), turn("t"), asked("one"), asked_event("one"), answered("two")]
CONTENT = file_of(*LINES)
COMPRESSED_FILE = Path(f"{FILE}.zst")


def read(content: bytes, path: Path = FILE, **options: object) -> list[Element]:
    return list(CodexReader().read(io.BytesIO(content), path, ReadOptions(**options)))


def recognised(content: bytes, path: Path = COMPRESSED_FILE) -> bool:
    return CodexReader().recognises(FileHead(path, content[:HEAD_BYTES], len(content)))


def test_a_compressed_rollout_gives_what_the_plain_one_gives() -> None:
    """B35: the same ids, thread and texts, in one frame or in several."""
    frames = zstd.compress(CONTENT[:200]) + zstd.compress(CONTENT[200:])
    for content in (zstd.compress(CONTENT), frames):
        assert ids(read(content, COMPRESSED_FILE)) == ids(read(CONTENT))
        assert texts(read(content, COMPRESSED_FILE)) == ["one", "two"]


def test_a_compressed_rollout_is_recognised_by_what_is_in_it() -> None:
    noise = [item("function_call_output", call_id=str(n), output=f"{n * 7919}" * 50) for n in range(3000)]
    assert recognised(zstd.compress(CONTENT), Path("anything"))
    assert recognised(zstd.compress(file_of(meta(), *noise)), Path("anything"))
    assert not recognised(zstd.compress(b"words\n" * 100))
    assert not recognised(zstd.compress(CONTENT)[:4] + b"\x00" * 50)


def test_a_header_after_other_lines_is_found_in_both() -> None:
    content = file_of(b"{broken", asked("zero"), *LINES)
    for given, path in ((content, Path("notes.jsonl")), (zstd.compress(content), Path("notes.jsonl.zst"))):
        elements = read(given, path)
        assert (texts(elements), set(threads(elements)), warned(elements)) == (["zero", "one", "two"], {SESSION}, [])


@pytest.mark.parametrize(
    ("cut", "reason"), [(lambda raw: raw[:-20], "file-cut"), (lambda raw: raw + b"x" * 40, "damaged")]
)
def test_a_damaged_file_gives_what_it_holds(cut: Callable[[bytes], bytes], reason: str) -> None:
    noise = file_of(*[asked(f"{n * 7919} {n}") for n in range(20_000)])
    compressed = zstd.compress(file_of(meta()) + noise)
    elements = read(cut(compressed), COMPRESSED_FILE)
    assert texts(elements)[:2] == ["0 0", "7919 1"]
    assert rejected(elements)[-1].reason == reason


def test_without_the_codec_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is taken by its name then, so that reading it says so."""
    monkeypatch.setitem(sys.modules, zstd.__name__, None)
    monkeypatch.setattr(sys.modules[zstd.__name__.split(".")[0]], "zstd", None, raising=False)
    monkeypatch.delattr(sys.modules[zstd.__name__.split(".")[0]], "zstd")
    compressed = zstd.compress(CONTENT)
    assert recognised(compressed)
    assert not recognised(compressed, Path("notes.tar.zst"))
    with pytest.raises(PermanentSourceError, match=r"session-triage\[zstd\]"):
        read(compressed, COMPRESSED_FILE)
    assert texts(read(CONTENT)) == ["one", "two"]


def test_options_reach_the_parser() -> None:
    hidden = item("message", role="developer", content=[{"type": "input_text", "text": "Be brief."}])
    elements = read(file_of(meta(), hidden), account="ana", include_hidden=True)
    assert (texts(elements), heard(elements)[0].thread.account) == (["Be brief."], "ana")


def test_what_exec_prints_is_named_and_not_read() -> None:
    """It repeats what the run's rollout says, without times and without the prompt."""
    content = file_of({"type": "thread.started", "thread_id": SESSION}, {"type": "item.completed", "item": {}})
    elements = list(CodexExecReader().read(io.BytesIO(content), Path("run.jsonl"), ReadOptions()))
    assert len(elements) == 1
    assert "rollout" in warned(elements)[0]


@pytest.mark.parametrize(
    ("environ", "base"),
    [({}, "/home/ana/.codex"), ({"CODEX_HOME": "/srv/codex"}, "/srv/codex"), ({"CODEX_HOME": "~/c"}, "/home/ana/c")],
)
def test_default_roots(environ: dict[str, str], base: str) -> None:
    assert default_roots(environ, Path("/home/ana")) == [Path(base, "sessions"), Path(base, "archived_sessions")]


def follow(root: Path, *steps: Callable[[], object], checkpoints: dict | None = None, **options) -> list[list[Element]]:
    """Take each step, and give what the source captured until it was at rest again; commits as it goes."""
    known = {} if checkpoints is None else checkpoints

    async def run() -> list[list[Element]]:
        source = codex_adapter("codex", [root], **options).captures(dict(known))
        given: list[list[Element]] = []
        waiting = asyncio.ensure_future(anext(source))
        for step in steps:
            step()
            taken: list[Element] = []
            while (await asyncio.wait({waiting}, timeout=1.5))[0]:
                taken += waiting.result().elements
                for part, state in waiting.result().checkpoints.items():
                    known.pop(part, None) if state is None else known.update({part: state})
                waiting = asyncio.ensure_future(anext(source))
            given.append(taken)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await source.aclose()
        return given

    return asyncio.run(run())


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compressed files are looked for every minute; here at once."""
    finished = codex_live.FinishedFiles
    monkeypatch.setattr(codex_live, "FinishedFiles", lambda *a, **k: finished(*a, **k, poll_seconds=0.2))


def test_a_rollout_that_grows_and_is_compressed_tells_nothing_new(tmp_path: Path) -> None:
    """B35: the plain file is followed; its compressed form has the ids that were told."""
    path = tmp_path / "2026" / FILE
    path.parent.mkdir()

    def grow() -> None:
        with path.open("ab") as stream:
            stream.write(line(asked("three")) + b"\n")

    def compress() -> None:
        path.with_name(COMPRESSED_FILE.name).write_bytes(zstd.compress(path.read_bytes()))
        path.unlink()

    first, second, third = follow(tmp_path, lambda: path.write_bytes(CONTENT), grow, compress)
    assert (texts(first), texts(second)) == (["one", "two"], ["three"])
    assert set(ids(third)) <= set(ids(first + second))
    assert warned(third) == []


def test_a_compressed_rollout_is_read_once(tmp_path: Path) -> None:
    """First seen, it is read; after a restart it is known; one with its plain form beside it is passed over."""
    (tmp_path / COMPRESSED_FILE).write_bytes(zstd.compress(CONTENT))
    checkpoints: dict[str, bytes] = {}
    assert texts(follow(tmp_path, lambda: None, checkpoints=checkpoints)[0]) == ["one", "two"]
    assert texts(follow(tmp_path, lambda: None, checkpoints=checkpoints)[0]) == []
    other = tmp_path / "rollout-other.jsonl"
    other.with_name(other.name + ".zst").write_bytes(zstd.compress(file_of(meta("x"), asked("plain"))))
    other.write_bytes(file_of(meta("x"), asked("plain")))
    assert texts(follow(tmp_path, lambda: None, checkpoints=checkpoints)[0]) == ["plain"]


def test_what_was_compressed_before_is_passed_over_when_only_the_new_is_wanted(tmp_path: Path) -> None:
    path = tmp_path / COMPRESSED_FILE
    path.write_bytes(zstd.compress(CONTENT))
    checkpoints: dict[str, bytes] = {}
    assert texts(follow(tmp_path, lambda: None, checkpoints=checkpoints, backfill="now")[0]) == []
    checkpoints[FIRST_SEEN] = b"damaged"
    assert texts(follow(tmp_path, lambda: None, checkpoints=checkpoints, backfill="now")[0]) == ["one", "two"]


def test_a_large_compressed_rollout_comes_in_bounded_captures(tmp_path: Path) -> None:
    """Its state is written with its last elements only."""
    count = 2_500
    (tmp_path / COMPRESSED_FILE).write_bytes(zstd.compress(file_of(meta(), *[asked(str(n)) for n in range(count)])))

    async def run() -> list:
        source = codex_adapter("codex", [tmp_path]).captures({})
        captures = []
        while sum(len(capture.elements) for capture in captures) < count:
            captures.append(await asyncio.wait_for(anext(source), 20))
        await source.aclose()
        return [capture for capture in captures if capture.elements]

    captures = asyncio.run(run())
    assert [len(capture.elements) for capture in captures] == [1000, 1000, 500]
    assert [bool(capture.checkpoints) for capture in captures] == [False, False, True]
