"""Telegram Desktop exports are read in all their forms, as streams, with the ids that live messages have."""

import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.chat.identity import telegram_event_id
from adapters.contract import Heard, ReadOptions
from adapters.exports.telegram_export import TelegramExportReader, TelegramPageReader
from tests.support.ai_exports import (
    as_json,
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
    warned,
)
from tests.support.messengers import case, telegram_account, telegram_chat, telegram_message, telegram_service

READER = TelegramExportReader()
CHAT = -1000000000200


def one(message: dict, kind: str = "private_supergroup", **options):
    (event,) = heard(read(READER, as_json(telegram_chat(message, kind=kind)), **options))
    return event


def times(elements: list) -> list[str]:
    return [event.event.timestamp_iso for event in imported(elements).events]


def test_times_are_those_of_unixtime() -> None:
    """Case 17: the local time runs backwards when summer time ends."""
    elements = read(READER, case(17), timezone="Europe/Berlin")
    assert times(elements) == ["2023-10-29T00:30:00.000Z", "2023-10-29T01:30:00.000Z", "2019-06-03T22:01:59.000Z"]
    assert {event.author_id for event in heard(elements)} == {"7"}
    assert [event.labels for event in heard(elements)] == [[], [], []]


def test_without_a_zone_a_local_time_is_marked() -> None:
    assert [event.labels for event in heard(read(READER, case(17)))] == [[], [], ["time-zone-assumed"]]


def test_a_repeated_hour_is_told_apart_by_order() -> None:
    """An old export has no unixtime; the second 02:30 of the night comes after the first 02:50."""
    old = [telegram_message(n, date=f"2019-10-27T{t}:00") for n, t in enumerate(("02:30", "02:50", "02:30", "02:40"))]
    for message in old:
        del message["date_unixtime"]
    found = times(read(READER, as_json(telegram_chat(*old)), timezone="Europe/Berlin"))
    assert [time[11:16] for time in found] == ["00:30", "00:50", "01:30", "01:40"]


def test_a_whole_account_has_its_owner_as_operator() -> None:
    """Case 19."""
    elements = read(READER, case(19))
    assert told(elements) == [("message", "user", "oi"), ("message", "self", "olá"), ("message", "self", "note")]
    assert [e.thread.thread_id for e in elements if isinstance(e, Heard)] == ["7", "7", "99"]
    assert [(s.outcome, s.what) for s in skipped(elements)] == [("empty", "unsupported message")]
    assert [event.event.role for event in imported(elements).events] == ["user", "operator", "operator"]


def test_an_unknown_body_gives_its_words() -> None:
    """Case 21."""
    first, second = heard(read(READER, case(21)))
    assert (first.text, first.raw_type) == ("todo\none", "message/rich_message")
    assert second.text == "after"


@pytest.mark.parametrize(
    ("members", "text", "raw_type"),
    [
        ({"text": ..., "rich_message": "plain words"}, "plain words", "message/rich_message"),
        ({"text": "", "blocks": [{"rows": [[{"text": "c1"}, {"text": "c2"}]]}]}, "c1\nc2", "message/blocks"),
        ({"text": {"blocks": [{"text": "in a new form"}]}}, "in a new form", "message/text"),
        ({"text": 7}, "[text]", "message/text"),
    ],
)
def test_words_in_a_form_that_is_not_known_are_kept(members: dict, text: str, raw_type: str) -> None:
    """The kind of case 21: another key, a text that is no object, a known key with another shape."""
    event = one({name: value for name, value in {**telegram_message(1), **members}.items() if value is not ...})
    assert (event.text, event.raw_type) == (text, raw_type)


def test_an_unknown_body_without_words_gives_its_name() -> None:
    message = telegram_message(1, giveaway_information={"months": 3})
    del message["text"]
    assert one(message).text == "[giveaway_information]"


@pytest.mark.parametrize(
    ("text", "entities", "words"),
    [
        ("plain", [], "plain"),
        (["see ", {"type": "link", "text": "ex.test"}, "!"], [], "see ex.test!"),
        ([{"type": "bold", "text": "a"}, 7, None, {"type": "x"}, "b"], [], "ab"),
        (None, [{"type": "plain", "text": "new "}, {"type": "bold", "text": "form"}], "new form"),
        ("", [{"type": "plain", "text": "only here"}], "only here"),
    ],
)
def test_text_in_every_form(text: object, entities: list, words: str) -> None:
    assert one(telegram_message(1, text, text_entities=entities)).text == words


@pytest.mark.parametrize(
    ("members", "text", "kind", "name"),
    [
        ({"photo": "photos/photo_1.jpg"}, "[image: image/jpeg]", "image", "photo_1.jpg"),
        ({"photo": "(File not included. Change data exporting settings.)"}, "[image: image/jpeg]", "image", None),
        ({"file": "files/plan.pdf", "file_name": "plan.pdf"}, "[file: plan.pdf]", "file", "plan.pdf"),
        (
            {"file": "v/1.ogg", "media_type": "voice_message", "mime_type": "audio/ogg"},
            "[audio: audio/ogg]",
            "audio",
            "1.ogg",
        ),
        ({"file": "s/1.webp", "media_type": "sticker", "sticker_emoji": "x"}, "[image]", "image", "1.webp"),
    ],
)  # fmt: skip
def test_media_without_words_has_a_placeholder(members: dict, text: str, kind: str, name: str | None) -> None:
    event = one(telegram_message(1, "", **members))
    assert (event.text, event.attachments[0].kind, event.attachments[0].name) == (text, kind, name)


def test_a_caption_is_the_text() -> None:
    event = one(telegram_message(1, "look", photo="photos/1.jpg"))
    assert (event.text, len(event.attachments)) == ("look", 1)


@pytest.mark.parametrize(
    ("members", "text"),
    [
        ({"contact_information": {"first_name": "A", "last_name": "B", "phone_number": "+1"}}, "[contact: A B +1]"),
        ({"location_information": {"latitude": 1.5, "longitude": 2.5}}, "[location: 1.5, 2.5]"),
        ({"location_information": None}, "[location]"),
        ({"poll": {"question": "Q?", "answers": [{"text": "yes"}, {"text": "no"}]}}, "[poll: Q?]\n- yes\n- no"),
        ({"game_title": "G"}, "[game: G]"),
    ],
)
def test_what_is_shared_is_said(members: dict, text: str) -> None:
    assert one(telegram_message(1, "", **members)).text == text


def test_service_messages_are_status() -> None:
    event = one(telegram_service(1, "invite_members", members=["Bea", None]))
    assert (event.type, event.role, event.text) == ("status", "service", "Ana: invite members: Bea")
    assert event.raw_type == "service/invite_members"


def test_an_edited_message_is_the_edit_that_live_reading_sees() -> None:
    """Only the last state is there; its place in the conversation is that of the message."""
    event = one(telegram_message(18, edited="2023-11-14T19:20:00", edited_unixtime="1700000300"))
    assert event.id == telegram_event_id(CHAT, 18, edited=1700000300)
    assert (event.labels, event.message_id, event.times) == (["edit"], "18", [1700000018])


@pytest.mark.parametrize("edited", [{"edited": "1970-01-01T01:00:00"}, {"edited_unixtime": "0"}, {"edited": None}])
def test_the_epoch_means_not_edited(edited: dict) -> None:
    event = one(telegram_message(18, **edited))
    assert (event.id, event.labels) == (telegram_event_id(CHAT, 18), [])


@pytest.mark.parametrize(
    ("kind", "chat"),
    [
        ("private_supergroup", "-1000000000200"), ("public_channel", "-1000000000200"), ("private_group", "-200"),
        ("personal_chat", "200"), ("bot_chat", "200"), ("saved_messages", "200"), ("something_new", "200"),
    ],
)  # fmt: skip
def test_chats_are_numbered_as_the_bot_api_numbers_them(kind: str, chat: str) -> None:
    (element,) = read(READER, as_json(telegram_chat(telegram_message(1), kind=kind)))
    assert (element.thread.thread_id, element.event.id) == (chat, telegram_event_id(int(chat), 1))


def test_ids_of_channels_are_the_same_for_every_account() -> None:
    def id_for(kind: str, account: str) -> str:
        return ids(read(READER, as_json(telegram_chat(telegram_message(1), kind=kind)), account=account))[0]

    assert id_for("public_channel", "a") == id_for("public_channel", "b")
    assert id_for("personal_chat", "a") != id_for("personal_chat", "b")


@pytest.mark.parametrize(
    ("kind", "author", "options", "role"),
    [
        ("personal_chat", "user200", {}, "user"),
        ("personal_chat", "user99", {}, "self"),
        ("bot_chat", "user200", {}, "bot"),
        ("bot_chat", "user99", {}, "self"),
        ("saved_messages", "user200", {}, "self"),
        ("private_supergroup", "user99", {}, "user"),
        ("private_supergroup", "user99", {"own_name": "99"}, "self"),
        ("private_supergroup", "user99", {"own_name": "ana"}, "self"),
        ("public_channel", "channel200", {}, "channel"),
    ],
)
def test_roles_follow_the_direction(kind: str, author: str, options: dict, role: str) -> None:
    assert one(telegram_message(1, from_id=author), kind=kind, **options).role == role


def test_a_reply_has_a_parent_unless_it_is_to_another_chat() -> None:
    raw = as_json(
        telegram_chat(
            telegram_message(1),
            telegram_message(2, reply_to_message_id=1),
            telegram_message(3, reply_to_message_id=9, reply_to_peer_id="channel5"),
        )
    )
    assert [event.parent_message_id for event in heard(read(READER, raw))] == [None, "1", None]


def test_topics_are_threads() -> None:
    """A message of a topic answers the topic's first message, or one of its others; the rest is the general topic."""
    raw = as_json(
        telegram_chat(
            telegram_message(100),
            telegram_service(200, "topic_created", title="Incidents"),
            telegram_message(201, reply_to_message_id=200),
            telegram_message(202, reply_to_message_id=201),
            telegram_message(203, reply_to_message_id=100),
        )
    )
    elements = read(READER, raw)
    assert [e.thread.thread_id for e in elements] == [
        f"{CHAT}", f"{CHAT}/200", f"{CHAT}/200", f"{CHAT}/200", f"{CHAT}"
    ]  # fmt: skip
    assert [event.parent_message_id for event in heard(elements)] == [None, None, None, "201", "100"]
    assert elements[2].thread.title == "Ops: Incidents"


def test_reactions_are_status() -> None:
    recent = [{"from": "Op", "from_id": "user99", "date": "2023-11-14T20:00:00"}]
    reactions = [
        {"type": "emoji", "count": 1, "emoji": "👍", "recent": recent},
        {"type": "emoji", "count": 3, "emoji": "🔥"},
    ]  # fmt: skip
    elements = read(READER, as_json(telegram_chat(telegram_message(1, reactions=reactions))), own_name="99")
    assert told(elements)[1:] == [("status", "self", "👍"), ("status", "service", "🔥 (3)")]
    assert [event.parent_message_id for event in heard(elements)] == [None, "1", "1"]


def test_forwarded_is_a_label() -> None:
    assert one(telegram_message(1, forwarded_from="News")).labels == ["forwarded"]


def test_broken_escapes_are_mended() -> None:
    r"""The exporter writes control characters as `\xNN`; a backslash before an x that somebody wrote stays."""
    raw = as_json(telegram_chat(telegram_message(1, "aBELb"), telegram_message(2, "c:\\x0Bd"), telegram_message(3)))
    elements = read(READER, raw.replace(b"BEL", rb"\x07"))
    assert [event.text for event in heard(elements)] == ["a\x07b", "c:\\x0Bd", "words"]
    assert imported(elements).events[0].event.text == "ab"


def test_a_bare_word_is_mended() -> None:
    raw = as_json(telegram_chat(telegram_message(1, [{"type": "custom_emoji", "text": "e", "document_id": "D"}])))
    elements = read(READER, raw.replace(b'"D"', b"stickers/a b.webp"))
    assert [event.text for event in heard(elements)] == ["e"]


def test_a_bad_message_costs_itself() -> None:
    raw = as_json(telegram_chat(*(telegram_message(n, f"words {n}") for n in range(1, 5))))
    elements = read(READER, raw.replace(b'"words 2"', b'"words 2" nonsense'))
    assert [event.text for event in heard(elements)] == ["words 1", "words 3", "words 4"]
    assert [r.reason for r in rejected(elements)] == ["invalid-json"]
    assert rejected(elements)[0].where.startswith("input.json: byte ")


def test_a_cut_file_gives_what_is_whole() -> None:
    raw = as_json(telegram_account(telegram_chat(*(telegram_message(n) for n in range(1, 4))), telegram_chat()))
    elements = read(READER, raw[: raw.index(b'"id": 3') + 5])
    assert len(heard(elements)) == 2
    assert "file-cut" in {r.reason for r in rejected(elements)}


def test_a_broken_bracket_costs_no_other_chat() -> None:
    chats = [telegram_chat(telegram_message(1), telegram_message(2), kind="private_group", chat=n) for n in (1, 2, 3)]
    raw = as_json(telegram_account(*chats))
    torn = raw.replace(b'"id": 2, "type": "message"', b'"id": {[, "type": "message"', 1)
    found = {event.id for event in heard(read(READER, torn))}
    assert {telegram_event_id(-n, message) for n in (2, 3) for message in (1, 2)} < found


def test_an_account_without_chats_says_so() -> None:
    raw = as_json({"about": "x", "personal_information": {"user_id": 1}, "contacts": {"list": []}})
    assert recognises(READER, raw)
    assert "without its chats" in warned(read(READER, raw))[0]


def test_members_in_another_order_are_found() -> None:
    chat = telegram_chat(telegram_message(1))
    raw = as_json({name: chat[name] for name in ("messages", "id", "type", "name")})
    assert ids(read(READER, raw)) == [telegram_event_id(CHAT, 1)]


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"{", b"[]", b'{"messages": []}', b'{"type": "session", "id": 1, "messages": []}',
        b'{"room_name": "x", "exported_by": "y", "messages": []}', b'{"about": "x"}', b"\xff{", b'{"\xff": 1}',
    ],
)  # fmt: skip
def test_other_files_are_not_taken(raw: bytes) -> None:
    assert not recognises(READER, raw)


@pytest.mark.parametrize("number", [17, 19, 21])
def test_real_shapes_are_taken_whatever_their_name(number: int) -> None:
    assert recognises(READER, case(number), "anything")


def test_the_html_form_is_named() -> None:
    page = (
        b'<!DOCTYPE html>\n<html><head><title>Exported Data</title><script src="js/script.js"></script></head></html>'
    )
    reader = TelegramPageReader()
    assert recognises(reader, page)
    assert "machine-readable JSON" in warned(read(reader, page))[0]
    assert not recognises(reader, b"<!DOCTYPE html><html></html>")


class Counting(io.BytesIO):
    """A stream that notes its longest read."""

    longest = 0

    def read(self, size: int | None = -1) -> bytes:
        found = super().read(size)
        self.longest = max(self.longest, len(found))
        return found


def test_a_large_chat_is_streamed() -> None:
    """The first event comes long before the end, and no read holds the file."""
    body = as_json(telegram_message(1, "x" * 1000))
    head = (
        b'{"about": "x", "chats": {"about": "", "list": [{"name": "N", "type": "public_channel", "id": 5, "messages": ['
    )
    stream = Counting(head + b",".join([body] * 8000) + b"]}]}}")
    elements = READER.read(stream, Path("result.json"), ReadOptions())
    next(elements)
    assert sum(1 for _ in elements) == 7999
    assert stream.longest < 3 * 1024 * 1024


GOOD = telegram_chat(telegram_message(1, "kept"), kind="private_group", chat=300)
WHOLE = telegram_chat(
    telegram_message(1),
    telegram_message(2, [{"type": "bold", "text": "b"}], edited_unixtime="1700000300", reply_to_message_id=1),
    telegram_service(3, "topic_created", title="T"),
    telegram_message(4, "", photo="photos/1.jpg", reply_to_message_id=3),
    telegram_message(5, "", poll={"question": "Q", "answers": [{"text": "a"}]}),
    telegram_message(6, reactions=[{"type": "emoji", "count": 1, "emoji": "x", "recent": [{"from_id": "user1"}]}]),
)
KEPT = telegram_event_id(-300, 1)


@settings(max_examples=150)
@given(broken(WHOLE))
def test_any_fault_costs_at_most_its_own_chat(chat: object) -> None:
    """Whatever is null, missing or of another type: the chats before and behind it come out, and all is counted."""
    before = telegram_chat(telegram_message(1, "kept"), kind="private_group", chat=301)
    raw = as_json(telegram_account(before, chat, GOOD))
    elements = read(READER, raw)
    assert {KEPT, telegram_event_id(-301, 1)} <= set(ids(elements))
    assert ids(elements) == ids(read(READER, raw))
    assert_conserved(elements)


@settings(max_examples=100)
@given(st.integers(0, 5), st.data())
def test_any_fault_of_a_message_costs_that_message(number: int, data) -> None:
    whole = read(READER, as_json(WHOLE))
    messages = list(WHOLE["messages"])
    others = [message for place, message in enumerate(messages) if place != number]
    messages[number] = data.draw(broken(messages[number]))
    elements = read(READER, as_json({**WHOLE, "messages": messages}))
    kept = {str(message["id"]) for message in others}
    expected = {event.id for event in heard(whole) if event.message_id in kept}
    assert expected <= set(ids(elements))
    assert_conserved(elements)


@given(st.binary(max_size=300))
def test_any_bytes_are_read_without_an_error(raw: bytes) -> None:
    recognises(READER, raw)
    assert_conserved(read(READER, b'{"name":"x","type":"bot_chat","id":1,"messages":[' + raw))
