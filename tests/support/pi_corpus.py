"""A corpus of pi sessions as they really are in size and mixture, deterministic, for benchmarks and load tests.

Mixture and sizes follow what pi writes: prompts of a line or two, answers with a usage block, calls, and tool results
that are mostly source code and logs; the mean line is about 1.4 KB.
"""

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

WORDS = ["weir", "sluice", "heron", "ferry", "orchard", "reed", "pump", "ledger", "mill", "quay", "lock", "otter"]

USAGE = {
    "input": 3110, "output": 274, "cacheRead": 12000, "cacheWrite": 310, "totalTokens": 15694,
    "cost": {"input": 0.0009, "output": 0.0004, "cacheRead": 0.0011, "cacheWrite": 0.0001, "total": 0.0025},
}  # fmt: skip


class SessionWriter:
    """Makes the lines of one session, one after another."""

    def __init__(self, number: int, cwd: str = "/srv/orchard/fen-mill") -> None:
        self.random = random.Random(number)
        self.start = datetime(2026, 2, 1, tzinfo=UTC) + timedelta(hours=number)
        self.session = f"{number:08x}-0086-4a5b-8f73-56bf9b03f4bd"
        self.clock = self.start
        self.parent: str | None = None
        self.count = 0
        self.call = ""
        self.cwd = cwd

    @property
    def name(self) -> str:
        """The file's name as pi writes it."""
        return f"{self._iso(self.start).replace(':', '-').replace('.', '-')}_{self.session}.jsonl"

    def header(self) -> bytes:
        """The header line."""
        return _line(type="session", version=3, id=self.session, timestamp=self._iso(self.start), cwd=self.cwd)

    def lines(self) -> Iterator[bytes]:
        """Entries without end: prompt, call, result, call, result, answer, and again."""
        while True:
            yield self._message({"role": "user", "content": [self._text(20)]})
            for _ in range(2):
                yield self._message(self._assistant([self._text(30), self._tool_call()], "toolUse"))
                content = [{"type": "text", "text": self._code(self.random.choice((5, 30, 80, 150)))}]
                result = {"role": "toolResult", "toolCallId": self.call, "toolName": "bash", "isError": False}
                yield self._message({**result, "content": content})
            yield self._message(self._assistant([self._text(90)], "stop"))

    def _assistant(self, content: list[dict], reason: str) -> dict:
        return {
            "role": "assistant", "content": content, "api": "reed-messages", "provider": "heron",
            "model": "heron-mid-2", "usage": USAGE, "stopReason": reason,
        }  # fmt: skip

    def _tool_call(self) -> dict:
        self.call = f"call_{self.count}"
        command = f"rg -n '{self.random.choice(WORDS)}' src/{self.random.choice(WORDS)}"
        return {"type": "toolCall", "id": self.call, "name": "bash", "arguments": {"command": command}}

    def _text(self, words: int) -> dict:
        return {"type": "text", "text": " ".join(self.random.choices(WORDS, k=words)) + "."}

    def _code(self, lines: int) -> str:
        return "\n".join(
            f'{n:4d}    {self.random.choice(WORDS)}("{self.random.choice(WORDS)}", {self.random.random():.4f})'
            for n in range(lines)
        )

    def _message(self, message: dict) -> bytes:
        self.count += 1
        self.clock += timedelta(milliseconds=self.random.randint(200, 9000))
        identity, parent = f"{self.random.getrandbits(32):08x}", self.parent
        self.parent = identity
        message["timestamp"] = int(self.clock.timestamp() * 1000)
        return _line(type="message", id=identity, parentId=parent, timestamp=self._iso(self.clock), message=message)

    @staticmethod
    def _iso(moment: datetime) -> str:
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def write_corpus(folder: Path, megabytes: float, files: int = 20) -> list[Path]:
    """Write sessions of together about so many MB; gives their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number in range(files):
        writer = SessionWriter(number)
        path = folder / writer.name
        size = 0
        with path.open("wb") as stream:
            size += stream.write(writer.header())
            for line in writer.lines():
                size += stream.write(line)
                if size >= megabytes * 1e6 / files:
                    break
        paths.append(path)
    return paths


def _line(**members: object) -> bytes:
    return json.dumps(members, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
