"""Promise: Claude Code session files are found, recognised by their shape, never another agent's, and followed live."""

import io
import json
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.catalogue import Catalogue
from adapters.contract import HEAD_BYTES, FileHead, ReadOptions
from adapters.exports.canonical import CanonicalReader
from adapters.sessions.claude_code import ClaudeCodeReader, claude_code_adapter, default_roots
from adapters.sessions.codex import CodexExecReader, CodexReader
from adapters.sessions.pi import PiReader
from tests.support import codex, pi
from tests.support.archives import packed
from tests.support.claude_code import AGENT, SESSION, assistant, call, entry, image, user
from tests.support.sessions import events, file_of, heard, line, texts, threads
from tests.support.tail import Driver

READERS = (PiReader(), ClaudeCodeReader(), CodexReader(), CodexExecReader(), CanonicalReader())
EVENT = {"schemaVersion": "1.0", "source": {"provider": "pi"}, "event": {"id": "x"}, "meta": {}}
LONG = "x" * 100_000


def kinds(content: bytes, name: str = "x.jsonl") -> list[str]:
    """Give the names of all readers that take a file for theirs."""
    head = FileHead(Path(name), content[:HEAD_BYTES], len(content))
    return [reader.name for reader in READERS if reader.recognises(head)]


def bare(*drop: str) -> dict:
    return {key: part for key, part in user("a", None, "x").items() if key not in drop}


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (file_of(user("a", None, "x")), "Claude Code session"),
        (line(user("a", None, "x")), "Claude Code session"),
        (b"\xef\xbb\xbf" + file_of(assistant("a", None, "x")), "Claude Code session"),
        (file_of({"type": "summary", "summary": "s", "leafUuid": "x"}), "Claude Code session"),
        (file_of({"type": "queue-operation", "sessionId": "s", "timestamp": "t"}), "Claude Code session"),
        (file_of({"type": "file-history-snapshot", "messageId": "x"}, user("a", None, "x")), "Claude Code session"),
        (
            file_of(*[{"type": "file-history-snapshot", "messageId": "x"}] * 99, user("a", None, "x")),
            "Claude Code session",
        ),
        (file_of({"type": "file-history-snapshot", "messageId": "x", "snapshot": LONG}), "Claude Code session"),
        (file_of(b"{broken", b"", user("a", None, "x")), "Claude Code session"),
        (file_of(bare("sessionId", "parentUuid")), "Claude Code session"),
        (file_of({**bare("sessionId"), "isSidechain": True, "agentId": AGENT}), "Claude Code session"),
        (file_of(user("a", None, LONG)), "Claude Code session"),
        (file_of({"type": "user", "message": {"role": "user", "content": [image(LONG)]}}), "Claude Code session"),
        (file_of(codex.meta()), "Codex session"),
        (file_of(codex.meta(base_instructions=LONG)), "Codex session"),
        (file_of(codex.asked("x")), "Codex session"),
        (file_of(b"{broken", codex.event("user_message", message="x")), "Codex session"),
        (file_of({"id": "s", "timestamp": "t", "instructions": None}, {"record_type": "state"}), "Codex session"),
        (file_of({"type": "message", "role": "user", "content": [{"type": "input_text"}]}), "Codex session"),
        (file_of({"type": "thread.started", "thread_id": "t"}, {"type": "turn.started"}), "Codex exec output"),
        (file_of({"type": "item.completed", "item": {"type": "agent_message"}}), "Codex exec output"),
        (pi.file_of(pi.HEADER, pi.user("a", None, "x")), "pi session"),
        (pi.file_of(pi.user("a", None, "x")), "pi session"),
        (pi.file_of({**pi.HEADER, "metadata": LONG}), "pi session"),
        (file_of(EVENT), "canonical events"),
    ],
)
def test_each_kind_is_taken_by_its_own_reader_only(content: bytes, kind: str) -> None:
    assert kinds(content) == [kind]
    assert kinds(content, f"{SESSION}.jsonl") == [kind]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"words\nand more words\n",
        b"[" * 100_000,
        file_of({"a": 1}, [1], 5, None),
        file_of({"display": "go on", "pastedContents": {}, "project": "/w", "sessionId": "s"}),  # history.jsonl
        file_of({"type": "system", "subtype": "init", "session_id": "s", "uuid": "u"}),  # printed by --output-format
        file_of({"type": "assistant", "message": {"content": []}, "session_id": "s", "uuid": "u"}),
        file_of({**user("a", None, "x"), "message": {"role": "user", "parts": [{"text": "x"}]}}),  # a fork of another
        json.dumps([user("a", None, "x")]).encode(),
        file_of({"session_id": "s", "ts": 1, "text": "go on"}),  # Codex's prompt history
        file_of({"type": "telepathy", "payload": {}}),
        b"\x28\xb5\x2f\xfd" + b"\x00" * 100,
    ],
)
def test_other_files_are_nobodys(content: bytes) -> None:
    assert kinds(content, f"{SESSION}.jsonl") == []


@pytest.mark.parametrize(
    "content",
    [
        file_of(*[user(f"u{n}", None, "x") for n in range(4)]),
        file_of(pi.HEADER, *[pi.user(f"u{n}", None, "x") for n in range(4)]),
        file_of(codex.meta(), *[codex.asked(f"{n}") for n in range(4)]),
    ],
)
def test_an_archive_that_does_not_compress_is_no_session(content: bytes) -> None:
    """Its bytes hold the lines of all its files; it is opened, and each file is a session of its own."""
    assert len(kinds(content)) == 1
    assert kinds(packed({"a.jsonl": content, "b.jsonl": content}, zipfile.ZIP_STORED)) == []


@given(st.binary(max_size=400), st.integers(0, 1000), st.booleans())
def test_recognising_never_raises(start: bytes, more: int, compressed: bool) -> None:
    content = b"\x28\xb5\x2f\xfd" + start if compressed else start
    head = FileHead(Path("x"), content, len(content) + more)
    assert all(reader.recognises(head) in {True, False} for reader in READERS)


def test_the_catalogue_knows_the_readers() -> None:
    catalogue = Catalogue(READERS)
    assert isinstance(catalogue.named("claude-code"), ClaudeCodeReader)
    assert isinstance(catalogue.named("codex"), CodexReader)


def test_options_and_the_session_named_later_reach_the_parser() -> None:
    """The title at the top of a file belongs to the session that the next line names."""
    title = {"type": "summary", "summary": "The dam", "leafUuid": "x"}
    content = file_of(title, user("m", None, "hook", isMeta=True), user("a", None, "mine"))
    options = ReadOptions(account="ana", include_hidden=True)
    elements = list(ClaudeCodeReader().read(io.BytesIO(content), Path("notes.jsonl"), options))
    assert texts(elements) == ["name of another session: The dam", "hook", "mine"]
    assert {(h.thread.thread_id, h.thread.account) for h in heard(elements)} == {(SESSION, "ana")}


def test_the_last_line_counts_without_its_newline() -> None:
    content = line(user("a", None, "mine"))
    assert texts(ClaudeCodeReader().read(io.BytesIO(content), Path("x.jsonl"), ReadOptions())) == ["mine"]


@pytest.mark.parametrize(
    ("environ", "root"),
    [
        ({}, "/home/ana/.claude/projects"),
        ({"CLAUDE_CONFIG_DIR": "/srv/claude"}, "/srv/claude/projects"),
        ({"CLAUDE_CONFIG_DIR": "~/kept"}, "/home/ana/kept/projects"),
        ({"CLAUDE_CONFIG_DIR": ""}, "/home/ana/.claude/projects"),
    ],
)
def test_default_roots(environ: dict[str, str], root: str) -> None:
    """The prompt history lies outside of them."""
    assert default_roots(environ, Path("/home/ana")) == [Path(root)]


def test_a_live_session_and_its_sub_agents(tmp_path: Path) -> None:
    """Files are followed as they grow; half a line waits; a restart goes on with the tree as it was."""
    adapter = claude_code_adapter("claude-code", [tmp_path], account="ana")
    driver = Driver(tmp_path, parser=adapter._parser_factory)
    folder = tmp_path / "-srv-weir"
    main, agent = folder / f"{SESSION}.jsonl", folder / SESSION / "subagents" / f"agent-{AGENT}.jsonl"
    agent.parent.mkdir(parents=True)
    snapshot = {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}}
    main.write_bytes(file_of(snapshot, user("a", None, "one"), assistant("b", "a", call("Task", {}))))
    agent.write_bytes(file_of({**user("s", None, "Survey"), "isSidechain": True, "agentId": AGENT}))
    assert sorted(driver.poll()) == ["Survey", "Task {}", "one"]
    more = line(user("c", "a", "other")) + b"\n"
    with main.open("ab") as stream:
        stream.write(more[:40])
    assert driver.poll() == []
    driver.restart()
    with main.open("ab") as stream:
        stream.write(more[40:])
    assert driver.poll() == ["other"]
    found = events(driver.sink.elements)
    assert found[-1].branch_id == found[-1].message_id
    assert set(threads(driver.sink.elements)) == {SESSION}
    assert driver.sink.heard[0].thread.account == "ana"


def test_bookkeeping_lines_tell_nothing_live(tmp_path: Path) -> None:
    driver = Driver(tmp_path, parser=claude_code_adapter("claude-code", [tmp_path])._parser_factory)
    (tmp_path / f"{SESSION}.jsonl").write_bytes(file_of(*[entry("progress", None) for _ in range(5)]))
    assert driver.poll() == []
