"""Composed Codex rollouts: lines by type, and what a parser gives for them."""

from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from adapters.contract import Element
from adapters.sessions.codex_parser import CodexParser
from tests.support.sessions import feed

SESSION = "0199aaaa-1111-7222-8333-444455556666"
FILE = Path(f"rollout-2026-01-02T03-04-05-{SESSION}.jsonl")
NAMELESS = Path("notes.jsonl")


def iso(second: int) -> str:
    return f"2026-01-02T03:{4 + second // 60:02d}:{second % 60:02d}.000Z"


def row(kind: str, payload: object, *, at: int = 6) -> dict:
    return {"timestamp": iso(at), "type": kind, "payload": payload}


def meta(session_id: str = SESSION, /, *, at: int = 5, **fields: object) -> dict:
    usual = {"id": session_id, "timestamp": iso(at), "cwd": "/srv/sluice", "originator": "codex_cli", "source": "cli"}
    return row("session_meta", {**usual, **fields}, at=at)


def turn_id(name: str) -> str:
    return str(uuid5(NAMESPACE_URL, name))


def turn(name: str | None, *, at: int = 6) -> dict:
    ids = {} if name is None else {"turn_id": turn_id(name)}
    return row("turn_context", {**ids, "cwd": "/srv/sluice", "model": "heron-deep-3"}, at=at)


def item(kind: str, /, *, at: int = 6, **fields: object) -> dict:
    return row("response_item", {"type": kind, **fields}, at=at)


def event(kind: str, /, *, at: int = 6, **fields: object) -> dict:
    return row("event_msg", {"type": kind, **fields}, at=at)


def asked(text: object, *, at: int = 6) -> dict:
    content = [{"type": "input_text", "text": text}] if isinstance(text, str) else text
    return item("message", role="user", content=content, at=at)


def answered(text: str, *, at: int = 7) -> dict:
    return item("message", role="assistant", content=[{"type": "output_text", "text": text}], at=at)


def asked_event(text: str, *, at: int = 6, **fields: object) -> dict:
    return event("user_message", message=text, at=at, **fields)


def answered_event(text: str, *, at: int = 7) -> dict:
    return event("agent_message", message=text, at=at)


def completed(kind: str, /, *, at: int = 6, **fields: object) -> dict:
    return event("item_completed", thread_id=SESSION, turn_id="t-9", item={"type": kind, "id": "it-1", **fields}, at=at)


def asked_item(text: str, *, at: int = 6) -> dict:
    return completed("UserMessage", content=[{"type": "text", "text": text}], at=at)


def answered_item(text: str, *, at: int = 7) -> dict:
    return completed("AgentMessage", content=[{"type": "Text", "text": text}], at=at)


def parse(content: bytes, path: Path = FILE, **options: object) -> list[Element]:
    """Feed a whole file to a new parser."""
    return feed(CodexParser(path, 1767400000.0, **options), content)
