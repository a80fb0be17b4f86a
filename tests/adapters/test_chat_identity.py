"""Ids of chat platforms come from the provider's own ids alone, and tell apart what the provider tells apart."""

import pytest

from adapters.chat.identity import (
    matrix_event_id,
    signal_event_id,
    telegram_chat_id,
    telegram_event_id,
    telegram_thread_id,
    whatsapp_event_id,
    whatsapp_line_id,
)


@pytest.mark.parametrize(
    ("kind", "bare", "chat"),
    [
        ("private_supergroup", 200, -1000000000200),
        ("public_channel", 1234567890123, -2234567890123),
        ("channel", 200, -1000000000200),
        ("private_group", 200, -200),
        ("group", 200, -200),
        ("personal_chat", 200, 200),
        ("user", 200, 200),
        ("", -5, -5),
    ],
)
def test_bare_chat_ids_become_those_of_the_bot_api(kind: str, bare: int, chat: int) -> None:
    assert telegram_chat_id(kind, bare) == chat


def test_the_general_topic_is_the_chat() -> None:
    assert telegram_thread_id(-100200) == telegram_thread_id(-100200, 1) == "-100200"
    assert telegram_thread_id(-100200, 200) == "-100200/200"


def test_accounts_count_where_messages_are_numbered_per_account() -> None:
    channel, person = -1000000000200, 7
    assert telegram_event_id(channel, 1, account="a") == telegram_event_id(channel, 1)
    assert telegram_event_id(person, 1, account="a") != telegram_event_id(person, 1, account="b")
    assert telegram_event_id(person, 1, account=" A ") == telegram_event_id(person, 1, account="a")
    assert whatsapp_line_id("Ana", "a", "10:14", "x", 1) != whatsapp_line_id("Ana", "b", "10:14", "x", 1)


def test_one_thing_has_one_id_and_two_have_two() -> None:
    found = [
        telegram_event_id(7, 1),
        telegram_event_id(7, 2),
        telegram_event_id(8, 1),
        telegram_event_id(7, 1, edited=1700000300),
        telegram_event_id(7, 1, edited=1700000301),
        telegram_event_id(7, 1, "reaction", "9", "x"),
        matrix_event_id("$e1"),
        matrix_event_id("$e2"),
        whatsapp_event_id("wamid.1"),
        whatsapp_event_id("wamid.1", "delivered", "1700000009"),
        signal_event_id("t", "a", 1),
        signal_event_id("t", "b", 1),
        signal_event_id("t", "a", 2),
        signal_event_id("t", "a", 1, "deleted"),
    ]
    assert len(set(found)) == len(found)


def test_released_ids_never_change() -> None:
    """A change would make every message of every user look new."""
    assert telegram_event_id(-1000000000200, 1) == "ef3cc27f-b3f6-54a3-b15a-d8538383a816"
    assert matrix_event_id("$e1") == "5e39b49b-38a0-5011-aa9e-c80c123b6a3b"
