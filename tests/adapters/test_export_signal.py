"""Signal's own exports, and those of signal-export, are read with the ids and threads that live messages have."""

import base64
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.chat.identity import NOTE_TO_SELF, SELF, signal_event_id, signal_group_id, signal_service_id
from adapters.contract import Heard
from adapters.exports.signal_export import SignalExportReader
from adapters.exports.signal_export_chats import SignalChatsReader
from tests.support.ai_exports import (
    assert_conserved,
    broken,
    heard,
    ids,
    imported,
    read,
    recognises,
    rejected,
    skipped,
    told,
)
from tests.support.messengers import ACI, ANA, GROUP, SIGNAL_PEOPLE, jsonl, signal_export, signal_item

READER = SignalExportReader()
CHATS = SignalChatsReader()
T = 1700000000000


def one(item: dict, **options):
    (event,) = heard(read(READER, signal_export(item), **options))
    return event


def threads(elements: list) -> list[str]:
    return [element.thread.thread_id for element in elements if isinstance(element, Heard)]


def test_messages_of_both_directions_share_a_thread() -> None:
    elements = read(READER, signal_export(signal_item(1, "olá 😀"), signal_item(2, "oi", own=True)))
    assert told(elements) == [("message", "incoming", "olá 😀"), ("message", "outgoing", "oi")]
    assert threads(elements) == [ANA, ANA]
    assert ids(elements) == [signal_event_id(ANA, ANA, T + 1), signal_event_id(ANA, SELF, T + 2)]
    assert elements[0].thread.title == "Ana"
    canonical = imported(elements).events
    assert [event.event.role for event in canonical] == ["user", "operator"]
    assert canonical[0].event.timestamp_iso == "2023-11-14T22:13:20.001Z"


def test_groups_have_the_id_that_signal_gives_them() -> None:
    """The export holds a group's key only; its id is derived as Signal's library does."""
    elements = read(READER, signal_export(signal_item(1, chat="2")))
    assert (threads(elements), elements[0].thread.title) == ([GROUP], "Ops")


@pytest.mark.parametrize(
    ("byte", "group"),
    [
        (0, "d/rq8//fR4RzhvN3G9KcKlQoj7cguQFjTOqLV6JUSbo="),
        (3, GROUP),
        (255, "oNU87d/985rcAmREXz3MK6PxPqxzeNuQJAJzZ5Euw9w="),
    ],
)
def test_group_ids_agree_with_the_library(byte: int, group: str) -> None:
    """Right answers from libsignal-client 0.103."""
    assert signal_group_id(bytes([byte]) * 32) == group


@pytest.mark.parametrize("raw", [b"", b"x", bytes(31), bytes(33)])
def test_other_keys_give_no_group(raw: bytes) -> None:
    assert signal_group_id(raw) is None
    assert signal_service_id(raw) is None


def test_notes_to_oneself_belong_to_the_account() -> None:
    raw = signal_export(signal_item(1, own=True, chat="3"))
    assert threads(read(READER, raw)) == [NOTE_TO_SELF]
    assert threads(read(READER, raw, account="+15550100001")) == ["+15550100001"]


def test_older_versions_come_first_and_the_newest_is_the_edit() -> None:
    item = signal_item(1000, "new", own=True)
    item["chatItem"]["revisions"] = [signal_item(n, f"old {n}", own=True)["chatItem"] for n in (1, 2)]
    elements = read(READER, signal_export(item))
    assert [(event.text, event.labels) for event in heard(elements)] == [
        ("old 1", []), ("old 2", ["edit"]), ("new", ["edit"])
    ]  # fmt: skip
    assert {event.message_id for event in heard(elements)} == {f"self:{T + 1}"}
    assert ids(elements)[0] == signal_event_id(ANA, SELF, T + 1)
    assert ids(elements)[2] == signal_event_id(ANA, SELF, T + 1000, "edit")


def test_reactions_are_status_of_their_authors() -> None:
    item = signal_item(1)
    item["chatItem"]["standardMessage"]["reactions"] = [
        {"emoji": "👍", "authorId": "1", "sentTimestamp": str(T + 5)},
        {"emoji": "👍", "authorId": "77", "sentTimestamp": str(T + 5)},
    ]
    elements = read(READER, signal_export(item))
    assert told(elements)[1:] == [("status", "outgoing", "👍")]
    assert heard(elements)[1].parent_message_id == f"{ANA}:{T + 1}"
    assert skipped(elements)[0].what == "reaction of nobody known"


def test_a_quote_is_the_parent() -> None:
    item = signal_item(2)
    item["chatItem"]["standardMessage"]["quote"] = {"targetSentTimestamp": str(T + 1), "authorId": "2"}
    assert one(item).parent_message_id == f"{ANA}:{T + 1}"


def test_mentions_are_names() -> None:
    """Places count UTF-16 units: an emoji has two."""
    item = signal_item(1, "😀 \ufffc, ask \ufffc")
    ranges = [{"start": 3, "length": 1, "mentionAci": ACI}, {"start": 10, "length": 1, "mentionAci": ACI}]
    item["chatItem"]["standardMessage"]["text"]["bodyRanges"] = [*ranges, {"start": 0, "length": 2, "style": "BOLD"}]
    assert one(item).text == "😀 @Ana, ask @Ana"


@pytest.mark.parametrize(
    ("content", "kind", "text"),
    [
        ({"remoteDeletedMessage": {}}, "status", "[deleted message]"),
        ({"stickerMessage": {"sticker": {"data": {"contentType": "image/webp"}}}}, "message", "[image: image/webp]"),
        ({"viewOnceMessage": {}}, "message", "[media]"),
        ({"poll": {"question": "Q?", "options": [{"option": "yes"}]}}, "message", "[poll: Q?]\n- yes"),
        ({"contactMessage": {"contact": {"name": {"givenName": "Bea"}}}}, "message", "[contact: Bea]"),
        ({"directStoryReplyMessage": {"emoji": "🔥"}}, "message", "🔥"),
        ({"updateMessage": {"simpleUpdate": {"type": "CHANGE_NUMBER"}}}, "status", "simple update: change number"),
        (
            {"updateMessage": {"groupChange": {"updates": [{"groupNameUpdate": {"newGroupName": "N"}}]}}},
            "status",
            "group change: group name update: N",
        ),
        ({"giftBadge": {"state": 1}}, "status", "[gift badge]"),
    ],
)
def test_every_content_is_an_event(content: dict, kind: str, text: str) -> None:
    item = signal_item(1, None)
    item["chatItem"] |= content
    event = one(item)
    assert (event.type, event.text) == (kind, text)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"text": {"body": "on the quay", "bodyRanges": []}, "style": 3}, "on the quay"),
        ({"title": {"text": "Fair"}, "rows": [{"body": "one"}, {"body": "two"}]}, "Fair\none\ntwo"),
        ({"style": 3}, "[story board message]"),
        ({}, "[story board message]"),
    ],
)
def test_content_of_an_unknown_kind_is_kept(content: dict, text: str) -> None:
    """What a newer app writes is a status with the words that can be found in it, as the live source tells it."""
    item = signal_item(3)
    del item["chatItem"]["standardMessage"]
    item["chatItem"] |= {"storyBoardMessage": content, "pinDetails": {"pinnedAtTimestamp": "5"}}
    (event,) = heard(read(READER, signal_export(item)))
    assert (event.type, event.role, event.text, event.raw_type) == ("status", "incoming", text, "storyBoardMessage")
    assert event.labels == ["unknown-kind"]


def test_an_item_without_content_is_counted() -> None:
    item = signal_item(3)
    del item["chatItem"]["standardMessage"]
    item["chatItem"]["pinDetails"] = {"pinnedAtTimestamp": "5"}
    assert [skip.what for skip in skipped(read(READER, signal_export(item)))] == ["item without content"]


def test_attachments_stand_for_themselves() -> None:
    item = signal_item(1, None)
    pointer = {"contentType": "image/png", "fileName": "a.png", "locatorInfo": {"size": 7}}
    voice = {"pointer": {"contentType": "audio/aac"}, "flag": "VOICE_MESSAGE"}
    item["chatItem"]["standardMessage"] = {"attachments": [{"pointer": pointer}, voice]}
    event = one(item)
    assert event.text == "[image: image/png]\n[audio: audio/aac]"
    assert event.attachments[0].size_bytes == 7


def test_frames_of_no_conversation_are_counted() -> None:
    elements = read(READER, signal_export({}, {"stickerPack": {"packId": "x"}}, {"newKind": {}}))
    assert [s.what for s in skipped(elements)] == [
        "unknown frame",
        "stickerPack",
        "unknown frame",
    ]


def test_an_item_of_an_unknown_chat_is_named() -> None:
    elements = read(READER, signal_export(signal_item(1, chat="9"), signal_item(2)))
    assert [r.reason for r in rejected(elements)] == ["unknown-chat"]
    assert len(heard(elements)) == 1


def test_bad_lines_cost_themselves() -> None:
    elements = read(READER, signal_export(signal_item(1), b"{broken", b"[]", b'{"chatItem": 7}', signal_item(2)))
    assert [r.reason for r in rejected(elements)] == ["invalid-json", "not-an-object", "bad-frame"]
    assert len(heard(elements)) == 2


def test_people_without_service_ids_are_known_by_number_or_name() -> None:
    people = [
        {"recipient": {"id": "2", "contact": {"e164": "15555550100"}}},
        {"recipient": {"id": "3", "contact": {"username": "bea.01"}}},
        {"chat": {"id": "1", "recipientId": "2"}},
        {"chat": {"id": "2", "recipientId": "3"}},
    ]
    elements = read(READER, jsonl(*people, signal_item(1), signal_item(2, chat="2")))
    assert threads(elements) == ["+15555550100", "bea.01"]


@pytest.mark.parametrize("raw", [signal_export(signal_item(1)), jsonl(*SIGNAL_PEOPLE[1:]), jsonl(*SIGNAL_PEOPLE[:1])])
def test_exports_are_taken_whatever_their_name(raw: bytes) -> None:
    assert recognises(READER, raw, "x")


@pytest.mark.parametrize(
    "raw", [b"", b"{}", b'{"version": 1}', b'{"chat": {}}', b'{"type":"session","version":3,"id":"s"}', b"[]", b"\xff"]
)
def test_other_files_are_not_taken(raw: bytes) -> None:
    assert not recognises(READER, raw)
    assert not recognises(CHATS, raw)


LINES = [*SIGNAL_PEOPLE, signal_item(1), signal_item(2, own=True), signal_item(3, chat="2"), signal_item(4, chat="3")]


@settings(max_examples=200)
@given(st.integers(len(SIGNAL_PEOPLE), len(LINES) - 1), st.data())
def test_any_fault_of_an_item_costs_that_item(number: int, data) -> None:
    lines = [*LINES[:number], data.draw(broken(LINES[number])), *LINES[number + 1 :]]
    others = ids(read(READER, jsonl(*LINES[:number], *LINES[number + 1 :])))
    elements = read(READER, jsonl(*lines))
    assert set(others) <= set(ids(elements))
    assert ids(elements) == ids(read(READER, jsonl(*lines)))
    assert_conserved(elements)


@settings(max_examples=100)
@given(st.integers(0, len(SIGNAL_PEOPLE) - 1), st.data())
def test_any_fault_of_a_person_costs_at_most_their_chats(number: int, data) -> None:
    """A fault can make a person or chat another one; nothing stops, and all is counted."""
    lines = [*LINES[:number], data.draw(broken(LINES[number])), *LINES[number + 1 :]]
    elements = read(READER, jsonl(*lines))
    assert len(heard(elements)) + len(rejected(elements)) >= 4
    assert_conserved(elements)


@given(st.binary(max_size=300))
def test_any_bytes_are_read_without_an_error(raw: bytes) -> None:
    for reader in (READER, CHATS):
        recognises(reader, raw)
        assert_conserved(read(reader, raw))


def chat_line(body: str = "words", second: int = 0, **members) -> dict:
    return {
        "date": f"2023-11-14T19:13:{second:02d}",
        "sender": "Ana",
        "body": body,
        "quote": "",
        "sticker": None,
        "reactions": [],
        "attachments": [],
        **members,
    }


def test_chats_of_the_tool_are_known_by_their_folder() -> None:
    raw = jsonl(chat_line(), chat_line("oi", 1, sender="Me"), chat_line("oi", 1, sender="Me"))
    elements = read(CHATS, raw, "Ana Lima/data.json", timezone="Europe/Berlin")
    assert told(elements) == [("message", "user", "words"), *[("message", "self", "oi")] * 2]
    assert threads(elements) == ["Ana Lima"] * 3
    assert len(set(ids(elements))) == 3
    assert heard(elements)[0].times == ["2023-11-14T19:13:00+01:00"]
    assert recognises(CHATS, raw)
    assert not recognises(READER, raw)


def test_what_came_with_a_message_of_the_tool() -> None:
    lines = [
        chat_line("", 1, attachments=[{"name": "a.png", "path": "./media/a.png"}]),
        chat_line("", 2, sticker={"emoji": "🔥"}),
        chat_line("", 3, deleted=True),
        chat_line("Missed call", 4, call=True),
        chat_line("x", 5, reactions=[["Me", "👍"], ["broken"], 7]),
        chat_line("", 6),
    ]
    elements = read(CHATS, jsonl(*lines), "Ana/data.json", timezone="UTC")
    assert told(elements) == [
        ("message", "user", "[image]"), ("message", "user", "🔥"), ("status", "user", "[deleted message]"),
        ("status", "user", "Missed call"), ("message", "user", "x"), ("status", "self", "👍"),
    ]  # fmt: skip
    assert len(skipped(elements)) == 3


@settings(max_examples=100)
@given(broken(chat_line("b", 1, reactions=[["Me", "x"]], attachments=[{"name": "a.png", "path": "p"}])))
def test_any_fault_of_a_line_costs_that_line(line: object) -> None:
    raw = jsonl(chat_line("a"), line, chat_line("c", 2))
    elements = read(CHATS, raw, "Ana/data.json")
    kept = ids(read(CHATS, jsonl(chat_line("a"), chat_line("c", 2)), "Ana/data.json"))
    assert set(kept) <= set(ids(elements))
    assert_conserved(elements)


def test_base64_is_checked() -> None:
    people = json.loads(json.dumps(SIGNAL_PEOPLE))
    people[3]["recipient"]["contact"]["aci"] = base64.b64encode(b"short").decode()
    elements = read(READER, jsonl(*people, signal_item(1)))
    assert threads(elements) == ["+15555550100"]
