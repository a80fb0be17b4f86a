"""Composed Claude Code session files: lines by type, and what a parser gives for them."""

from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from adapters.contract import Element
from adapters.sessions.claude_code_parser import ClaudeCodeParser
from tests.support.sessions import feed

SESSION = "0a1b2c3d-1111-4222-8333-444455556666"
FILE = Path(f"{SESSION}.jsonl")
NAMELESS = Path("notes.jsonl")
AGENT = "a1bee4ee26b0c17ef"
AGENT_FILE = Path(SESSION) / "subagents" / f"agent-{AGENT}.jsonl"


def uuid(name: str | None) -> str | None:
    return None if name is None else str(uuid5(NAMESPACE_URL, name))


def iso(second: int) -> str:
    return f"2026-01-02T03:{4 + second // 60:02d}:{second % 60:02d}.000Z"


def entry(kind: str, name: str | None, parent: str | None = None, *, at: int = 6, **fields: object) -> dict:
    """Make a line with the usual envelope; without a name it has no uuid."""
    envelope = {
        "parentUuid": uuid(parent),
        "isSidechain": False,
        "userType": "external",
        "cwd": "/srv/weir",
        "sessionId": SESSION,
        "version": "2.4.7",
        "gitBranch": "spring",
        "type": kind,
    }
    own = {} if name is None else {"uuid": uuid(name)}
    return {**envelope, **own, "timestamp": iso(at), **fields}


def user(name: str | None, parent: str | None, content: object, *, at: int = 6, **fields: object) -> dict:
    return entry("user", name, parent, at=at, message={"role": "user", "content": content}, **fields)


def assistant(name: str | None, parent: str | None, *blocks: object, at: int = 7, **fields: object) -> dict:
    message = {
        "id": fields.pop("message_id", f"msg_{name}"),
        "type": "message",
        "role": "assistant",
        "model": fields.pop("model", "egret-large-1"),
        "content": [said(block) if isinstance(block, str) else block for block in blocks],
        "stop_reason": None,
        "usage": {"input_tokens": 12, "output_tokens": 33},
    }
    return entry("assistant", name, parent, at=at, requestId=f"req_{name}", message=message, **fields)


def said(text: str) -> dict:
    return {"type": "text", "text": text}


def call(name: str, arguments: object, call_id: str = "toolu_1") -> dict:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def result(content: object, call_id: str = "toolu_1", **fields: object) -> dict:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **fields}


def image(data: str = "iVBORw0KGgo=", mime_type: str = "image/png") -> dict:
    return {"type": "image", "source": {"type": "base64", "media_type": mime_type, "data": data}}


def parse(content: bytes, path: Path = FILE, **options: object) -> list[Element]:
    """Feed a whole file to a new parser."""
    return feed(ClaudeCodeParser(path, 1767400000.0, **options), content)
