"""Exports of chat platforms are taken by one reader each, among all readers there are, whatever a file is called."""

from pathlib import Path

import pytest

from adapters.catalogue import load
from adapters.contract import FileHead
from tests.support.ai_exports import as_json
from tests.support.messengers import (
    CASES,
    SIGNAL_PEOPLE,
    element_room,
    jsonl,
    matrix_event,
    signal_export,
    signal_item,
    telegram_account,
    telegram_chat,
    telegram_message,
)

CATALOGUE = load()
LONG = [telegram_message(n, "x" * 2000) for n in range(100)]
LONG_ITEMS = [signal_item(n, "x" * 999) for n in range(99)]
CHAT_LINE = {"date": "2023-11-14T19:13:20", "sender": "Me", "body": "x", "reactions": [], "attachments": []}
SAMPLES = {
    "one chat": ("Telegram export", as_json(telegram_chat(telegram_message(1)))),
    "one long chat": ("Telegram export", as_json(telegram_chat(*LONG))),
    "a whole account": ("Telegram export", as_json(telegram_account(telegram_chat(*LONG)))),
    "a room": ("Element export", as_json(element_room(matrix_event(1)))),
    "Signal": ("Signal export", signal_export(signal_item(1))),
    "Signal without its info": ("Signal export", jsonl(*SIGNAL_PEOPLE[1:], *LONG_ITEMS)),
    "signal-export": ("signal-export chat", jsonl(CHAT_LINE, CHAT_LINE)),
    "WhatsApp on iOS": ("WhatsApp export", b"[13/03/2025, 10:14:00] Ana: x\r\n" * 9999),
    "WhatsApp on Android": ("WhatsApp export", b"13/03/2025, 10:14 - Ana: x\n"),
}  # fmt: skip


def takers(raw: bytes, name: str = "input.bin") -> list[str]:
    head = FileHead(Path(name), raw[: 64 * 1024], len(raw))
    return [reader.name for reader in CATALOGUE.readers if reader.recognises(head)]


@pytest.mark.parametrize("sample", SAMPLES)
def test_exactly_one_reader_takes_it(sample: str) -> None:
    reader, raw = SAMPLES[sample]
    assert takers(raw) == [reader]


KINDS = {"-tg-export-": "Telegram export", "-wa-": "WhatsApp export", "-element-export-": "Element export"}
LIVE = "-wa-cloud-"
EXPORTED = [
    path
    for path in sorted(CASES.glob("*/input*"))
    if any(mark in path.parent.name for mark in KINDS) and LIVE not in path.parent.name
]


@pytest.mark.parametrize("path", EXPORTED, ids=lambda path: path.parent.name)
def test_every_case_is_taken_by_its_reader(path: Path) -> None:
    raw = path.read_bytes()
    expected = next(kind for mark, kind in KINDS.items() if mark in path.parent.name)
    assert takers(raw) == [expected]


@pytest.mark.parametrize(
    ("provider", "reader"),
    [
        ("telegram", "Telegram export"), ("matrix", "Element export"), ("signal", "Signal export"),
        ("whatsapp", "WhatsApp export"),
    ],
)  # fmt: skip
def test_a_provider_names_its_first_reader(provider: str, reader: str) -> None:
    found = CATALOGUE.named(provider)
    assert found is not None
    assert found.name == reader
