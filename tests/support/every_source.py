"""All live sources at once: a home whose daemon follows them, and speakers on each."""

import json
import threading
import time
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any, Final, Self
from uuid import NAMESPACE_URL, uuid5

from tests.support import claude_code, codex, pi
from tests.support.daemon import Home
from tests.support.fake_botapi import TOKEN, FakeBotApi
from tests.support.fake_homeserver import TOKEN as MATRIX_TOKEN
from tests.support.fake_homeserver import USER as MATRIX_USER
from tests.support.fake_signal import ACCOUNT, FakeSignal
from tests.support.live_homeserver import LiveHomeserver
from tests.support.load import Door, Say, Speaker, thread_of
from tests.support.matrix_live import said as said_in_matrix
from tests.support.served import free_port
from tests.support.signal_live import T, data, envelope
from tests.support.telegram import GROUP, update
from tests.support.whatsapp import APP_SECRET, VERIFY_TOKEN, message, messages, signed

CUSTOM_TOKEN: Final = "a-token-of-enough-characters"  # noqa: S105 - of a daemon that lives for one test
CHAPTER: Final = 25
"""Messages of a session file; then the agent begins a new one, as people do. A soak has more files than are kept."""

SECRET: Final = "a-secret-of-enough-characters"  # noqa: S105


class EverySource:
    """A home whose daemon follows all live sources, and who speaks on them; its own context manager.

    `doors` are the addresses that senders use, by source.
    """

    def __init__(self, path: Path, each: int = 4, variables: Mapping[str, str] | None = None) -> None:
        """`each` is the number of speakers of a source; `variables` are further settings."""
        self.bots, self.signal, self.rooms = FakeBotApi(), FakeSignal(), LiveHomeserver()
        self.port = free_port()
        self.home = Home(path)
        self._further = variables or {}
        base = f"http://127.0.0.1:{self.port}/v1/"
        self.doors = {
            "telegram.door": Door(base + "telegram/door", lambda _: {"X-Telegram-Bot-Api-Secret-Token": SECRET}),
            "whatsapp.shop": Door(base + "whatsapp/shop", signed),
            "custom.main": Door(base + "events", lambda _: {"Authorization": f"Bearer {CUSTOM_TOKEN}"}),
        }
        self._polled_numbers, self._pushed_numbers, self._counting = count(1), count(1), threading.Lock()
        self._matrix_numbers = count(1)
        self._milliseconds = count(int(time.time() * 1000) - T)
        made = {
            "telegram.ops": self._polled,
            "telegram.door": self._pushed,
            "whatsapp.shop": self._whatsapp,
            "signal.ops": self._signal,
            "matrix.ops": self._matrix,
            "custom.main": self._custom,
        }
        files = {"pi": self._pi, "claude_code": self._claude_code, "codex": self._codex}
        self.speakers = {
            source: [Speaker(f"{source} {number}", make(number)) for number in range(each)]
            for source, make in made.items()
        } | {
            source: [Speaker(f"{source} {number}", write, CHAPTER) for number in range(each)]
            for source, write in files.items()
        }

    def __enter__(self) -> Self:
        self.bots.__enter__()
        self.signal.__enter__()
        self.rooms.__enter__()
        settings = {
            "HTTP__PORT": str(self.port),
            "LOG__LEVEL": "warning",
            "SOURCES__CLAUDE_CODE__ENABLED": "true",
            "SOURCES__CODEX__ENABLED": "true",
            "SOURCES__TELEGRAM__OPS__TOKEN": TOKEN,
            "SOURCES__TELEGRAM__OPS__API_URL": self.bots.url,
            "SOURCES__TELEGRAM__DOOR__TOKEN": TOKEN,
            "SOURCES__TELEGRAM__DOOR__API_URL": self.bots.url,
            "SOURCES__TELEGRAM__DOOR__MODE": "webhook",
            "SOURCES__TELEGRAM__DOOR__SECRET": SECRET,
            "SOURCES__WHATSAPP__SHOP__VERIFY_TOKEN": VERIFY_TOKEN,
            "SOURCES__WHATSAPP__SHOP__APP_SECRET": APP_SECRET,
            "SOURCES__SIGNAL__OPS__ACCOUNT": ACCOUNT,
            "SOURCES__SIGNAL__OPS__ADDRESS": self.signal.address,
            "SOURCES__MATRIX__OPS__HOMESERVER": self.rooms.url,
            "SOURCES__MATRIX__OPS__USER": MATRIX_USER,
            "SOURCES__MATRIX__OPS__TOKEN": MATRIX_TOKEN,
            "SOURCES__MATRIX__OPS__ENCRYPTION": "false",
            "SOURCES__CUSTOM__MAIN__TOKEN": CUSTOM_TOKEN,
        }
        self.home.variables |= {f"SESSION_INGEST__{name}": value for name, value in settings.items()} | self._further
        return self

    def __exit__(self, *_: object) -> None:
        for door in self.doors.values():
            door.stop.set()
        self.home.close()
        self.rooms.__exit__()
        self.signal.__exit__()
        self.bots.__exit__()

    @property
    def everybody(self) -> list[Speaker]:
        """All speakers of all sources."""
        return [each for speakers in self.speakers.values() for each in speakers]

    @property
    def said(self) -> list[str]:
        """Everything that must arrive."""
        return [text for each in self.everybody for text in each.texts]

    def _polled(self, number: int) -> Say:
        def say(text: str) -> None:
            with self._counting:  # the server's numbers rise as updates come
                self.bots.add(_update(next(self._polled_numbers), number + 2, text))

        return say

    def _pushed(self, number: int) -> Say:
        return lambda text: self.doors["telegram.door"].deliver(_update(next(self._pushed_numbers), number + 102, text))

    def _whatsapp(self, number: int) -> Say:
        person = f"1555010010{number}"
        contact = {"wa_id": person, "user_id": f"US.{person}", "profile": {"name": f"Person {number}"}}

        def say(text: str) -> None:
            named = {"from": person, "id": f"wamid.{text}", "timestamp": str(int(time.time()))}
            self.doors["whatsapp.shop"].deliver(messages(message(1, text, **named), contacts=[contact]))

        return say

    def _signal(self, number: int) -> Say:
        person = {"sourceUuid": str(uuid5(NAMESPACE_URL, str(number))), "source": f"+1555555010{number}"}

        def say(text: str) -> None:
            at = next(self._milliseconds)
            self.signal.add(envelope(at, body=data(at, text), sourceNumber=person["source"], **person))

        return say

    def _matrix(self, number: int) -> Say:
        def say(text: str) -> None:
            event = said_in_matrix(next(self._matrix_numbers), text, origin_server_ts=int(time.time() * 1000))
            self.rooms.say(f"!room{number}:hs.test", event)

        return say

    def _custom(self, number: int) -> Say:
        def say(text: str) -> None:
            source, event = {"provider": "mine", "threadId": f"thread-{number}"}, {"id": text, "text": text}
            self.doors["custom.main"].deliver({"source": source, "event": {**event, "role": "user"}})

        return say

    def _pi(self, text: str) -> None:
        session, turn = _session(text)
        path = self.home.sessions / f"2026-01-02T03-04-05-678Z_{session}.jsonl"
        if turn == 1:
            _write(path, {**pi.HEADER, "id": session})
        made = pi.user if turn % 2 else pi.assistant
        _write(path, made(f"{turn:08x}", f"{turn - 1:08x}" if turn > 1 else None, text) | {"timestamp": _now()})

    def _claude_code(self, text: str) -> None:
        session, turn = _session(text)
        path = self.home.path / ".claude" / "projects" / "-srv-weir" / f"{session}.jsonl"
        parent = f"{session} {turn - 1}" if turn > 1 else None
        made = claude_code.user if turn % 2 else claude_code.assistant
        _write(path, made(f"{session} {turn}", parent, text) | {"sessionId": session, "timestamp": _now()})

    def _codex(self, text: str) -> None:
        session, turn = _session(text)
        folder = self.home.path / ".codex" / "sessions" / "2026" / "01" / "02"
        path = folder / f"rollout-2026-01-02T03-04-05-{session}.jsonl"
        if turn == 1:
            _write(path, codex.meta(session))
        _write(path, (codex.asked if turn % 2 else codex.answered)(text) | {"timestamp": _now()})


def _session(text: str) -> tuple[str, int]:
    """The id of the session that a text belongs to, and its number there, from 1 on."""
    number = int(text.rpartition(" says ")[2].rstrip("."))
    return str(uuid5(NAMESPACE_URL, thread_of(text))), (number - 1) % CHAPTER + 1


def _update(number: int, topic: int, text: str) -> dict[str, Any]:
    """A message in a topic; two bots in one chat would see the same message, so each has chats of its own."""
    place = {"chat": {**GROUP, "id": GROUP["id"] - topic, "is_forum": True}, "message_thread_id": topic}
    return update(number, text=text, date=int(time.time()), is_topic_message=True, **place)


def _write(path: Path, entry: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as stream:
        stream.write(json.dumps(entry) + "\n")


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
