"""ChatGPT and Claude exports of any size, deterministic, shaped and sized as real ones, for benchmarks."""

import json
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

WORDS = [
    "alpha",
    "rede",
    "configuração",
    "straße",
    "naïve",
    "data",
    "東京",
    "café",
    "system",
    "token",
    "graph",
    "index",
]
ALTERNATIVES = 0.1
"""Share of ChatGPT answers that were asked for again, and so have a sibling."""


class ExportWriter:
    """Makes conversations, one after another."""

    def __init__(self, seed: int = 7) -> None:
        self.random = random.Random(seed)

    def chatgpt(self) -> dict[str, Any]:
        """One conversation as a tree of nodes, with hidden system message and some regenerated answers."""
        clock, identity, root, system = self._clock(), self._uuid(), self._uuid(), self._uuid()
        hidden = self._chatgpt_message(system, "system", None, "")
        hidden["metadata"] = {"is_visually_hidden_from_conversation": True}
        nodes = {
            root: {"id": root, "message": None, "parent": None, "children": [system]},
            system: {"id": system, "message": hidden, "parent": root, "children": []},
        }
        leaf = system
        for number in range(self.random.randint(4, 24)):
            clock += self.random.random() * 60
            role = "assistant" if number % 2 else "user"
            words = self._words(number)
            asked_again = role == "assistant" and self.random.random() < ALTERNATIVES
            for node in [self._uuid() for _ in range(2 if asked_again else 1)]:
                message = self._chatgpt_message(node, role, clock, words)
                nodes[node] = {"id": node, "message": message, "parent": leaf, "children": []}
                nodes[leaf]["children"].append(node)
            leaf = node
        return {
            "title": self._words(0)[:40], "create_time": clock - 900, "update_time": clock, "mapping": nodes,
            "moderation_results": [], "current_node": leaf, "plugin_ids": None, "conversation_id": identity,
            "gizmo_id": None, "is_archived": False, "default_model_slug": "gpt-4o", "voice": None, "id": identity,
        }  # fmt: skip

    def claude(self) -> dict[str, Any]:
        """One flat conversation, each text once in `text` and once in `content`."""
        clock, messages = self._clock(), []
        for number in range(self.random.randint(4, 24)):
            clock += self.random.random() * 60
            words, time = self._words(number), _iso(clock)
            block = {"start_timestamp": time, "stop_timestamp": time, "type": "text", "text": words, "citations": []}
            messages.append({
                "uuid": self._uuid(), "text": words, "content": [block],
                "sender": "assistant" if number % 2 else "human",
                "created_at": time, "updated_at": time, "attachments": [], "files": [],
            })  # fmt: skip
        times = {"created_at": _iso(clock - 900), "updated_at": _iso(clock)}
        account = {"uuid": "acc"}
        return {
            "uuid": self._uuid(),
            "name": "a chat",
            "summary": "",
            **times,
            "account": account,
            "chat_messages": messages,
        }

    def _chatgpt_message(self, node: str, role: str, time: float | None, words: str) -> dict[str, Any]:
        metadata = {"request_id": self._uuid(), "timestamp_": "absolute"}
        if role == "assistant":
            metadata |= {"model_slug": "gpt-4o", "message_type": "next"}
        return {
            "id": node, "author": {"role": role, "name": None, "metadata": {}}, "create_time": time,
            "update_time": None,
            "content": {"content_type": "text", "parts": [words]}, "status": "finished_successfully", "end_turn": True,
            "weight": 0.0 if role == "system" else 1.0, "metadata": metadata, "recipient": "all", "channel": None,
        }  # fmt: skip

    def _words(self, number: int) -> str:
        count = self.random.randint(60, 260) if number % 2 else self.random.randint(5, 40)
        return " ".join(self.random.choices(WORDS, k=count))

    def _clock(self) -> float:
        return 1_650_000_000 + self.random.random() * 1e8

    def _uuid(self) -> str:
        text = f"{self.random.getrandbits(128):032x}"
        return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-8{text[17:20]}-{text[20:]}"


def write_export(path: Path, kind: str, megabytes: float) -> int:
    """Write an export of about so many MB; gives its bytes. `kind` is chatgpt or claude."""
    make = getattr(ExportWriter(), kind)
    with path.open("wb") as stream:
        stream.write(b"[")
        separator = b""
        while stream.tell() < megabytes * 1e6:
            stream.write(separator + json.dumps(make(), ensure_ascii=False).encode())
            separator = b","
        stream.write(b"]")
        return stream.tell()


def _iso(clock: float) -> str:
    return datetime.fromtimestamp(clock, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
