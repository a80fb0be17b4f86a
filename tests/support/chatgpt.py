"""ChatGPT conversations, built small: messages, trees of them, and files that hold them."""

from typing import Any

from adapters.contract import Element
from adapters.exports.chatgpt import ChatGPTReader
from tests.support.ai_exports import as_json, read

START = 1764355435.125
READER = ChatGPTReader()


def message(key: str, role: str, words: object = "", *, at: float | None = 0, **members: Any) -> dict:
    """A message as exports have it; `words` are its parts' text, or its whole content."""
    content = words if isinstance(words, dict) else {"content_type": "text", "parts": [words]}
    return {
        "id": key,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": None if at is None else START + at,
        "update_time": None,
        "content": content,
        "status": "finished_successfully",
        "end_turn": role == "assistant" or None,
        "weight": 1.0,
        "metadata": {},
        "recipient": "all",
        "channel": None,
        **members,
    }


def user(key: str, words: object = "", **members: Any) -> dict:
    return message(key, "user", words, **members)


def assistant(key: str, words: object = "", **members: Any) -> dict:
    return message(key, "assistant", words, **members)


def tool(key: str, name: str, words: object = "", **members: Any) -> dict:
    return message(key, "tool", words, **{"author": {"role": "tool", "name": name, "metadata": {}}, **members})


def node(key: str, parent: str | None, said: object) -> dict:
    return {"id": key, "parent": parent, "children": [], "message": said}


def tree(nodes: list[dict], leaf: object = None, *, key: str = "c-1", **members: Any) -> dict:
    """A conversation of these nodes; parents learn of their children."""
    mapping = {found["id"]: found for found in nodes}
    for found in nodes:
        above = mapping.get(found["parent"]) if isinstance(found["parent"], str) else None
        if above and found["id"] not in above["children"]:
            above["children"].append(found["id"])
    return {
        "title": "Ferns",
        "create_time": START,
        "update_time": START + 60,
        "mapping": mapping,
        "moderation_results": [],
        "current_node": leaf,
        "conversation_id": key,
        "id": key,
        "is_archived": False,
        "default_model_slug": None,
        **members,
    }


def chat(*messages: dict, key: str = "c-1", **members: Any) -> dict:
    """A conversation of messages one after another, under the usual root."""
    nodes, parent = [node("root", None, None)], "root"
    for found in messages:
        nodes.append(node(found["id"], parent, found))
        parent = found["id"]
    return tree(nodes, parent, key=key, **members)


def elements(*conversations: object, **options: Any) -> list[Element]:
    """What the reader gives for an array of conversations."""
    return read(READER, as_json(list(conversations)), **options)


def rich(key: str = "c-1") -> dict:
    """A conversation with something of everything: calls, results, reasoning, media, a branch, hidden context."""
    return tree(
        [
            node("root", None, None),
            node(
                "s",
                "root",
                message(
                    "s", "system", "", at=None, weight=0.0, metadata={"is_visually_hidden_from_conversation": True}
                ),
            ),
            node(
                "x",
                "s",
                user(
                    "x",
                    {
                        "content_type": "user_editable_context",
                        "user_profile": "a gardener",
                        "user_instructions": "be brief",
                    },
                    weight=0.0,
                ),
            ),
            node(
                "u1",
                "x",
                user(
                    "u1",
                    {
                        "content_type": "multimodal_text",
                        "parts": [
                            {
                                "content_type": "image_asset_pointer",
                                "asset_pointer": "sediment://file_a",
                                "size_bytes": 9,
                            },
                            "which fern?",
                        ],
                    },
                    metadata={"attachments": [{"id": "file_a", "name": "fern.png", "mime_type": "image/png"}]},
                ),
            ),
            node(
                "t",
                "u1",
                assistant(
                    "t", {"content_type": "thoughts", "thoughts": [{"summary": "Look", "content": "fronds"}]}, at=1
                ),
            ),
            node(
                "k",
                "t",
                assistant(
                    "k",
                    {"content_type": "code", "language": "json", "text": '{"q":"fern"}'},
                    at=2,
                    recipient="web.search",
                ),
            ),
            node(
                "r",
                "k",
                tool(
                    "r",
                    "web.search",
                    {
                        "content_type": "tether_quote",
                        "text": "Ferns are old",
                        "url": "https://fern.example.test",
                        "title": "Ferns",
                    },
                    at=3,
                ),
            ),
            node(
                "a1",
                "r",
                assistant(
                    "a1",
                    "A lady fern.\ue200cite\ue202turn0search0\ue201",
                    at=4,
                    metadata={
                        "model_slug": "gpt-4o",
                        "content_references": [
                            {
                                "matched_text": "\ue200cite\ue202turn0search0\ue201",
                                "type": "grouped_webpages",
                                "items": [{"url": "https://fern.example.test", "title": "Ferns"}],
                            }
                        ],
                    },
                ),
            ),
            node("a2", "r", assistant("a2", "A wood fern.", at=5)),
            node("u2", "a2", user("u2", "sure?", at=6)),
        ],
        "a1",
        key=key,
        default_model_slug="gpt-4",
    )
