"""Claude conversations, built small: blocks, messages, and files that hold them."""

from typing import Any

from adapters.contract import Element
from adapters.exports.claude import ClaudeReader
from tests.support.ai_exports import as_json, read

READER = ClaudeReader()
ROOT = "00000000-0000-4000-8000-000000000000"


def iso(second: int) -> str:
    return f"2025-11-15T10:{second // 60:02d}:{second % 60:02d}.000000Z"


def words(text: str, **members: Any) -> dict:
    return {"type": "text", "text": text, "citations": [], **members}


def message(key: str, sender: str, content: object, *, at: int | None = 0, **members: Any) -> dict:
    """A message as exports have it; `content` may be its one text."""
    time = None if at is None else iso(at)
    return {
        "uuid": key,
        "text": content if isinstance(content, str) else "flattened copy",
        "content": [words(content)] if isinstance(content, str) else content,
        "sender": sender,
        "created_at": time,
        "updated_at": time,
        "attachments": [],
        "files": [],
        **members,
    }


def human(key: str, content: object, **members: Any) -> dict:
    return message(key, "human", content, **members)


def assistant(key: str, content: object, **members: Any) -> dict:
    return message(key, "assistant", content, **members)


def chat(*messages: object, key: str = "cl-1", **members: Any) -> dict:
    return {
        "uuid": key,
        "name": "Ferns",
        "summary": "",
        "created_at": iso(0),
        "updated_at": iso(59),
        "account": {"uuid": "acc"},
        "chat_messages": list(messages),
        **members,
    }


def elements(*conversations: object, **options: Any) -> list[Element]:
    """What the reader gives for an array of conversations."""
    return read(READER, as_json(list(conversations)), **options)


def rich(key: str = "cl-1") -> dict:
    """A conversation with something of everything: blocks of all kinds, uploads, a branch."""
    return chat(
        human(
            "m1",
            [words("Compare these"), {"type": "injected_prompt_block", "prompt": "secret"}],
            parent_message_uuid=ROOT,
            attachments=[{"file_name": "a.py", "file_size": 5, "file_type": "txt", "extracted_content": "x = 1"}],
            files=[{"file_name": "b.png", "file_uuid": "f-1"}],
        ),
        assistant(
            "m2",
            [
                {"type": "thinking", "thinking": "let me look", "summaries": [], "start_timestamp": iso(1)},
                {
                    "type": "tool_use",
                    "id": None,
                    "name": "web_search",
                    "input": {"query": "x"},
                    "start_timestamp": iso(2),
                },
                {
                    "type": "tool_result",
                    "tool_use_id": None,
                    "name": "web_search",
                    "is_error": False,
                    "content": [
                        {"type": "knowledge", "title": "Page", "url": "https://page.example.test", "text": "found"}
                    ],
                },
                {"type": "token_budget", "remaining": 5},
                {"type": "something_new", "payload": 1},
                words(
                    "They differ.",
                    citations=[{"uuid": "c", "details": {"type": "web", "url": "https://page.example.test"}}],
                ),
            ],
            at=5,
            parent_message_uuid="m1",
        ),
        assistant("m3", "They are alike.", at=7, parent_message_uuid="m1"),
        human("m4", "thanks", at=9, parent_message_uuid="m2"),
        key=key,
        current_leaf_message_uuid="m4",
        model="claude-sonnet-4-5",
    )
