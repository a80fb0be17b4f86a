"""Any update, body, envelope, event or line that is mutated at random costs itself only, through the real capture loop.

Real adapters on their fakes, a real HTTP server and a real log: sound elements before, between and after the bad ones
arrive, each once and in order; no source fails or starts anew; no sender is asked to repeat what is bad for ever.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.chat.custom import CustomAdapter
from adapters.chat.signal import SignalSource
from adapters.chat.signal_address import Address
from adapters.chat.telegram import TelegramSource
from adapters.chat.telegram_webhook import TelegramWebhook
from adapters.contract import Adapter
from adapters.sessions.claude_code import claude_code_adapter
from adapters.sessions.codex import codex_adapter
from adapters.sessions.pi import pi_adapter
from ingest.log.contract import Topic
from ingest.log.embedded import EmbeddedLog
from schemas.captured import decode_record
from tests.support import claude_code, codex, pi
from tests.support.every_source import CUSTOM_TOKEN, SECRET
from tests.support.fake_botapi import TOKEN, FakeBotApi
from tests.support.fake_signal import ACCOUNT, FakeSignal
from tests.support.log import quick_folder
from tests.support.served import Served
from tests.support.sessions import mutated
from tests.support.signal_live import data, envelope, sent
from tests.support.sources import until
from tests.support.telegram import message as telegram_message
from tests.support.telegram import update
from tests.support.whatsapp import change, message, payload, signed, status
from tests.support.whatsapp_hook import hook

Fake = FakeBotApi | FakeSignal | None
Value = Any


@dataclass(frozen=True)
class Kind:
    """One kind of source: its fake, its adapter, sound elements by number, samples to mutate, and the way in."""

    adapter: Callable[[Path, Fake], Adapter]
    sound: Callable[[int], Value]
    samples: Sequence[Value]
    give: Callable[[Served, Fake, Path, list[Value]], Awaitable[None]]
    fake: Callable[[], AbstractContextManager[Fake]] = nullcontext


def text(number: int) -> str:
    return f"sound {number}"


async def poll(_: Served, fake: Fake, __: Path, bodies: list[Value]) -> None:
    """The server's numbers are sound: what it counts wrongly it would not give."""
    assert isinstance(fake, FakeBotApi)
    fake.queue += [body | {"update_id": number} for number, body in enumerate(bodies, 1)]


async def stream(_: Served, fake: Fake, __: Path, bodies: list[Value]) -> None:
    assert isinstance(fake, FakeSignal)
    fake.add(*bodies)


def post(path: str, headers: Callable[[bytes], dict[str, str]], answers: set[int]) -> Callable[..., Awaitable[None]]:
    async def give(served: Served, _: Fake, __: Path, bodies: list[Value]) -> None:
        for body in bodies:
            raw = json.dumps(body).encode()
            assert (await served.send(path, raw, headers(raw))).status in answers

    return give


def write(head: Value = None) -> Callable[..., Awaitable[None]]:
    async def give(_: Served, __: Fake, folder: Path, bodies: list[Value]) -> None:
        lines = bodies if head is None else [head, *bodies]
        name = {pi.HEADER["type"]: pi.FILE, "session_meta": codex.FILE}.get((head or {}).get("type"), claude_code.FILE)
        with (folder / name).open("a") as stream:
            stream.writelines(json.dumps(line) + "\n" for line in lines)

    return give


def bot(folder: Path, fake: Fake) -> Adapter:
    assert isinstance(fake, FakeBotApi)
    return TelegramSource("telegram.ops", "ops", lambda: TOKEN, url=fake.url, wait_seconds=1)


def pushed_bot(folder: Path, fake: Fake) -> Adapter:
    assert isinstance(fake, FakeBotApi)
    return TelegramWebhook("telegram.door", "door", lambda: TOKEN, lambda: SECRET, url=fake.url)


def phone(folder: Path, fake: Fake) -> Adapter:
    assert isinstance(fake, FakeSignal)
    return SignalSource("signal.ops", ACCOUNT, Address.of(fake.address), folder / "journal")


def custom_event(number: int, words: str) -> Value:
    return {"source": {"provider": "mine", "threadId": "t"}, "event": {"id": f"e{number}", "text": words}}


def said(turn: int, words: str) -> Value:
    return (claude_code.user if turn % 2 else claude_code.assistant)(f"m{turn}", None, words)


UPDATES = [
    update(1, text="bad"),
    update(1, "edited_message", telegram_message(5, "bad", edit_date=1700000009)),
    update(1, "message", telegram_message(6, None, photo=[{"file_id": "x", "file_unique_id": "y"}], caption="bad")),
    update(1, "message_reaction", {"chat": {"id": 1}, "message_id": 2, "date": 3, "new_reaction": []}),
]
KINDS = {
    "telegram.ops": Kind(bot, lambda n: update(n, text=text(n), message_id=9000 + n), UPDATES, poll, FakeBotApi),
    "telegram.door": Kind(
        pushed_bot,
        lambda n: update(n, text=text(n), message_id=9000 + n),
        UPDATES,
        post("/v1/telegram/door", lambda _: {"X-Telegram-Bot-Api-Secret-Token": SECRET}, {200}),
        FakeBotApi,
    ),
    "whatsapp.shop": Kind(
        lambda *_: hook(),
        lambda n: payload(change(messages=[message(9000 + n, text(n))])),
        [
            payload(change(messages=[message(1, "bad")]), change(statuses=[status(2, "sent")])),
            payload(change("history", history=[{"threads": [{"id": "1555", "messages": [message(3, "bad")]}]}])),
        ],
        post("/v1/whatsapp/shop", signed, {200}),
    ),
    "signal.ops": Kind(
        phone,
        lambda n: envelope(9000 + n, body=data(9000 + n, text(n))),
        [envelope(1, body=data(1, "bad")), sent(2, "bad"), envelope(3, "receiptMessage", {"when": 4, "isRead": True})],
        stream,
        FakeSignal,
    ),
    "custom.main": Kind(
        lambda *_: CustomAdapter("custom.main", lambda: CUSTOM_TOKEN),
        lambda n: custom_event(n, text(n)),
        [custom_event(0, "bad"), {"events": [custom_event(0, "bad")]}],
        post("/v1/events", lambda _: {"Authorization": f"Bearer {CUSTOM_TOKEN}"}, {200, 422}),
    ),
    "pi": Kind(
        lambda folder, _: pi_adapter("pi", [folder]),
        lambda n: pi.user(f"{9000 + n:08x}", None, text(n)),
        [pi.user("00000001", None, "bad"), pi.assistant("00000002", "00000001", "bad"), pi.HEADER],
        write(pi.HEADER),
    ),
    "claude_code": Kind(
        lambda folder, _: claude_code_adapter("claude_code", [folder]),
        lambda n: claude_code.user(f"sound{n}", None, text(n)),
        [said(1, "bad"), said(2, "bad"), claude_code.entry("summary", None, summary="bad")],
        write(),
    ),
    "codex": Kind(
        lambda folder, _: codex_adapter("codex", [folder]),
        lambda n: codex.asked(text(n), at=n),
        [codex.asked("bad"), codex.answered("bad"), codex.asked_event("bad"), codex.turn("t"), codex.meta()],
        write(codex.meta()),
    ),
}


def texts(log: EmbeddedLog) -> list[str]:
    records = [decode_record(record.value) for record in log.read(Topic.CAPTURED, 0, 10_000, 1 << 28)]
    found = [event.text for record in records for event in record.events]
    return [each for each in found if each.startswith("sound ")]


async def live(kind: Kind, bodies: list[Value], wanted: list[str]) -> None:
    with quick_folder() as folder, kind.fake() as fake, EmbeddedLog.open(folder / "log.db") as log:
        files = folder / "files"
        files.mkdir()
        adapter = kind.adapter(files, fake)
        async with Served([adapter], log) as served:  # type: ignore[arg-type]  # a real log in place of the scripted one
            await kind.give(served, fake, files, bodies)
            await until(lambda: len(texts(log)) >= len(wanted), 60)
            health = served.health.sources[adapter.name]
            assert texts(log) == wanted
            assert (health.restarts, health.last_error) == (0, None)
            assert served.health.not_ready() == []


@pytest.mark.parametrize("source", KINDS)
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.data())
def test_what_is_mutated_never_stops_the_others(source: str, data) -> None:
    kind = KINDS[source]
    bad = data.draw(st.lists(mutated(kind.samples), min_size=1, max_size=25))
    bodies = [kind.sound(0)]
    for number, each in enumerate(bad, 1):
        bodies += [each, kind.sound(number)]
    if source == "telegram.ops":
        bodies = [body for body in bodies if isinstance(body, dict)]
    asyncio.run(live(kind, bodies, [text(number) for number in range(len(bad) + 1)]))
