"""Composed pi session files: entries by kind, and what a parser gives for them."""

import json
from collections.abc import Iterable
from pathlib import Path

from adapters.contract import Element, Heard, Rejected, Skipped, Warned
from adapters.files.lines import Line, split_lines
from adapters.sessions.pi_parser import PiParser
from schemas.captured import CapturedEvent

SESSION = "0199aaaa-1111-7222-8333-444455556666"
FILE = Path(f"2026-01-02T03-04-05-678Z_{SESSION}.jsonl")
NAMELESS = Path("notes.jsonl")
HEADER = {"type": "session", "version": 3, "id": SESSION, "timestamp": "2026-01-02T03:04:05.000Z", "cwd": "/w"}
FIRST_MS = 1767323046000


def iso(second: int) -> str:
    return f"2026-01-02T03:{4 + second // 60:02d}:{second % 60:02d}.000Z"


def message(role: str, entry_id: str | None, parent: str | None, *, at: int = 6, **fields: object) -> dict:
    entry = {"type": "message"}
    if entry_id is not None:
        entry |= {"id": entry_id, "parentId": parent}
    body = {"role": role, **fields, "timestamp": FIRST_MS + at * 1000}
    return {**entry, "timestamp": iso(at), "message": body}


def user(entry_id: str | None, parent: str | None, text: object, *, at: int = 6) -> dict:
    return message("user", entry_id, parent, at=at, content=blocks(text))


def assistant(entry_id: str | None, parent: str | None, text: object, *, at: int = 7, **fields: object) -> dict:
    usual = {"api": "reed", "provider": "heron", "model": "heron-mid-2", "usage": {"input": 3}, "stopReason": "stop"}
    return message("assistant", entry_id, parent, at=at, content=blocks(text), **{**usual, **fields})


def tool_result(entry_id: str | None, parent: str | None, text: object, *, at: int = 8, **fields: object) -> dict:
    usual = {"toolCallId": "t1", "toolName": "bash", "isError": False}
    return message("toolResult", entry_id, parent, at=at, content=blocks(text), **{**usual, **fields})


def entry(sort: str, entry_id: str | None = None, parent: str | None = None, *, at: int = 9, **fields: object) -> dict:
    ids = {} if entry_id is None else {"id": entry_id, "parentId": parent}
    return {"type": sort, **ids, "timestamp": iso(at), **fields}


def blocks(content: object) -> object:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def call(name: str, arguments: object, call_id: str = "t1") -> dict:
    return {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}


def image(data: str = "iVBORw0KGgo=", mime_type: str = "image/png") -> dict:
    return {"type": "image", "data": data, "mimeType": mime_type}


def line(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def file_of(*values: object) -> bytes:
    """Join lines: bytes stand as they are, anything else becomes JSON."""
    return b"".join((value if isinstance(value, bytes) else line(value)) + b"\n" for value in values)


def parse(content: bytes, path: Path = FILE, **options: object) -> list[Element]:
    """Feed a whole file to a new parser."""
    parser = PiParser(path, 1767400000.0, **options)
    return [element for part in split_lines(content, 0) for element in parser.feed(part)]


def parse_lines(lines: Iterable[bytes], path: Path = FILE, **options: object) -> list[list[Element]]:
    """Feed lines one by one; gives what each gave."""
    parser, start, given = PiParser(path, None, **options), 0, []
    for raw in lines:
        given.append(parser.feed(Line(start, start + len(raw) + 1, raw)))
        start += len(raw) + 1
    return given


def heard(elements: Iterable[Element]) -> list[Heard]:
    return [element for element in elements if isinstance(element, Heard)]


def events(elements: Iterable[Element]) -> list[CapturedEvent]:
    return [element.event for element in heard(elements)]


def texts(elements: Iterable[Element]) -> list[str]:
    return [event.text for event in events(elements)]


def ids(elements: Iterable[Element]) -> list[str]:
    return [event.id for event in events(elements)]


def skipped(elements: Iterable[Element]) -> list[tuple[str, str, int]]:
    return [(e.outcome, e.what, e.count) for e in elements if isinstance(e, Skipped)]


def rejected(elements: Iterable[Element]) -> list[Rejected]:
    return [element for element in elements if isinstance(element, Rejected)]


def warned(elements: Iterable[Element]) -> list[str]:
    return [element.message for element in elements if isinstance(element, Warned)]


def seen(elements: Iterable[Element]) -> int:
    """Count elements as reports do: seen = emitted + empty + hidden + duplicate + rejected."""
    return sum(
        element.count if isinstance(element, Skipped) else 1 for element in elements if not isinstance(element, Warned)
    )
