"""Every kind of message of the Bot API becomes the right event: words, media, edits, topics, replies, roles, ids."""

import json

import pytest

from adapters.chat.identity import telegram_event_id
from adapters.contract import Heard
from schemas.captured import CapturedEvent
from tests.support.ai_exports import heard, imported, rejected, skipped
from tests.support.messengers import case
from tests.support.telegram import ANA, GROUP, Reader, message, read, update

CHAT = GROUP["id"]


def one(kind: str = "message", operators: tuple[int, ...] = (), **members) -> CapturedEvent:
    (event,) = heard(read(update(1, kind, **members), operators=operators))
    return event


def test_a_channel_post_has_no_author_but_the_channel() -> None:
    """Case 07."""
    elements = read(json.loads(case(7)))
    (event,) = imported(elements).events
    assert (event.source.thread_id, event.event.type, event.event.role) == ("-100300", "message", "user")
    assert (event.event.text, event.event.timestamp_iso) == ("v2 is out", "2023-11-14T22:13:20.000Z")
    assert (event.meta.author_id, event.meta.raw_type) == ("-100300", "channel_post")


def test_an_edit_is_an_event_of_its_own_once() -> None:
    """Case 09: another id, the same message, the time of the edit; the same edit again has the same id."""
    first, edit, again = heard(read(*json.loads(case(9))))
    assert (first.text, first.labels, first.id) == ("Test", [], telegram_event_id(-100200, 18, account="ops"))
    assert (edit.text, edit.labels, edit.message_id, edit.type) == ("Test, edited", ["edit"], "18", "message")
    assert edit.times == [1700000300, 1700000018]
    assert edit.id == again.id != first.id
    assert [e.event.timestamp_iso for e in imported(read(*json.loads(case(9)))).events][1] == "2023-11-14T22:18:20.000Z"


def test_a_moving_location_is_no_message() -> None:
    """Case 09: it sends an edit every few seconds, without words."""
    place = {"latitude": 1.5, "longitude": 2.5, "live_period": 900}
    event = one("edited_message", text=None, location=place, edit_date=1700000300)
    assert (event.type, event.text, event.labels) == ("status", "[location: 1.5, 2.5]", ["edit"])


def test_a_reply_chain_is_no_topic() -> None:
    """Case 11: only `is_topic_message` makes a thread, and a topic's beginning is answered by nobody."""
    elements = read(*json.loads(case(11)))
    assert [e.thread.thread_id for e in elements] == ["-100200", "-100200", "-100200/200"]
    assert [event.parent_message_id for event in heard(elements)] == [None, "100", None]
    assert [e.thread.title for e in elements] == ["Ops", "Ops", "Ops: Incidents"]


def test_business_accounts_have_three_roles_and_conversations_of_their_own() -> None:
    """Case 13."""
    elements = read(*json.loads(case(13)))
    events = imported(elements).events
    assert [e.event.type for e in events] == ["status", "message", "message", "message", "status"]
    assert [e.event.role for e in events[1:4]] == ["user", "operator", "bot"]
    assert [e.source.provider_account_key for e in events] == ["telegram/ops", *["telegram/ops/business/99"] * 4]
    own = read(update(60, chat={"id": 7, "type": "private"}))
    assert heard(own)[0].id not in {event.event.id for event in events}
    assert events[4].meta.parent_message_id == "1"
    assert (events[4].event.timestamp_iso, events[4].event.labels) == (
        "2023-11-14T22:13:23.000Z", ["deletion", "time-inferred"],
    )  # fmt: skip


def test_the_owner_of_a_business_account_is_known_after_a_restart() -> None:
    """Case 13: from the checkpoint."""
    before = Reader()
    updates = json.loads(case(13))
    before.read(updates[0])
    after = Reader(checkpoints=before.memory.moved(51, 0))
    assert [event.role for event in heard(after.read(*updates[1:4]))] == ["user", "self", "bot"]


def test_an_unknown_owner_is_who_is_not_the_other_one() -> None:
    """A connection that the server no longer knows: chats of business accounts are private."""
    elements = read(*json.loads(case(13))[1:4])
    assert [event.role for event in heard(elements)] == ["user", "self", "bot"]
    assert {e.thread.account for e in elements} == {"ops/business/bc1"}


@pytest.mark.parametrize(
    ("members", "role", "author"),
    [
        ({}, "user", "7"),
        ({"from": {"id": 99, "is_bot": False}}, "self", "99"),
        ({"from": {"id": 4242, "is_bot": True}}, "bot", "4242"),
        ({"from": {"id": 8, "is_bot": True}}, "bot", "8"),
        ({"from": {"id": 1087968824, "is_bot": True}, "sender_chat": GROUP}, "channel", str(CHAT)),
        ({"from": {"id": 777000}, "sender_chat": {"id": -1000000000300}}, "channel", "-1000000000300"),
        ({"from": {"id": 777000}, "sender_chat": {"id": -1000000000400}}, "self", "-1000000000400"),
        ({"from": ..., "sender_chat": ...}, "channel", None),
        ({"from": {"id": "x"}}, "channel", None),
    ],
)
def test_roles_come_from_the_author(members: dict, role: str, author: str | None) -> None:
    event = one(operators=(99, -1000000000400), **members)
    assert (event.role, event.author_id) == (role, author)


@pytest.mark.parametrize(
    ("members", "text", "raw_type", "kind"),
    [
        ({"photo": [{"file_size": 10}, {"file_size": 90}, {"file_size": 50}]}, "[image: image/jpeg]", "photo", "image"),
        ({"document": {"file_name": "a.pdf", "mime_type": "application/pdf"}}, "[file: a.pdf]", "document", "file"),
        ({"document": {"mime_type": "image/png"}}, "[image: image/png]", "document", "image"),
        ({"voice": {"mime_type": "audio/ogg"}}, "[audio: audio/ogg]", "voice", "audio"),
        ({"video_note": {"duration": 3}}, "[video: video/mp4]", "video_note", "video"),
        ({"animation": {"file_name": "a"}, "document": {"file_name": "a"}}, "[video]", "animation", "video"),
        ({"sticker": {"emoji": "x"}}, "[image]", "sticker", "image"),
        ({"paid_media": {"paid_media": [{"type": "photo"}]}}, "[image: image/jpeg]", "paid_media", "image"),
    ],
)  # fmt: skip
def test_media_without_words_has_a_placeholder(members: dict, text: str, raw_type: str, kind: str) -> None:
    event = one(text=None, **members)
    assert (event.text, event.raw_type, [a.kind for a in event.attachments]) == (text, f"message/{raw_type}", [kind])


def test_the_largest_photo_tells_the_size() -> None:
    assert one(text=None, photo=[{"file_size": 10}, {"file_size": 90}]).attachments[0].size_bytes == 90


def test_a_caption_is_the_text_and_an_album_is_marked() -> None:
    """An album is a message for each item, any of which may have a caption."""
    first, second = heard(
        read(
            update(1, text=None, photo=[{}], caption="look", media_group_id="13"),
            update(2, text=None, photo=[{}], media_group_id="13"),
        )
    )
    assert (first.text, second.text) == ("look", "[image: image/jpeg]")
    assert first.labels == second.labels == ["album:13"]


@pytest.mark.parametrize(
    ("members", "text"),
    [
        ({"contact": {"first_name": "A", "last_name": "B", "phone_number": "+1"}}, "[contact: A B +1]"),
        ({"location": {"latitude": 1.5, "longitude": 2.5}}, "[location: 1.5, 2.5]"),
        (
            {"venue": {"location": {"latitude": 1, "longitude": 2}, "title": "T", "address": "A"}, "location": {}},
            "[location: T A 1, 2]",
        ),
        ({"poll": {"question": "Q?", "options": [{"text": "yes"}, {"text": "no"}]}}, "[poll: Q?]\n- yes\n- no"),
        ({"checklist": {"title": "L", "tasks": [{"text": "a"}]}}, "[checklist: L]\n- a"),
        ({"dice": {"emoji": "x", "value": 6}}, "[dice: x 6]"),
        ({"game": {"title": "G"}}, "[game: G]"),
        ({"rich_message": {"blocks": [{"text": "one"}, {"items": [{"text": "two"}]}]}}, "one\ntwo"),
        ({"hologram": {"x": 1}}, "[hologram]"),
    ],
)
def test_what_is_shared_is_said(members: dict, text: str) -> None:
    assert one(text=None, **members).text == text


@pytest.mark.parametrize(
    ("members", "name", "text"),
    [
        ({"new_chat_members": [{"first_name": "Bea"}, {"first_name": "Cy", "last_name": "D"}]}, "new_chat_members",
         "Ana: new chat members: Bea, Cy D"),
        ({"new_chat_title": "New"}, "new_chat_title", "Ana: new chat title: New"),
        ({"delete_chat_photo": True}, "delete_chat_photo", "Ana: delete chat photo"),
        ({"migrate_to_chat_id": -1000000000201}, "migrate_to_chat_id", "Ana: migrate to chat id: -1000000000201"),
        ({"forum_topic_closed": {}}, "forum_topic_closed", "Ana: forum topic closed"),
        ({"web_app_data": {"data": "d"}}, "web_app_data", "Ana: web app data: d"),
    ],
)  # fmt: skip
def test_service_messages_are_status(members: dict, name: str, text: str) -> None:
    event = one(text=None, **members)
    assert (event.type, event.role, event.raw_type, event.text) == ("status", "service", f"service/{name}", text)


def test_a_pinned_message_is_named() -> None:
    event = one(text=None, pinned_message={"message_id": 5, "chat": GROUP, "date": 0, "text": "keep"})
    assert (event.text, event.parent_message_id) == ("Ana: pinned message: keep", "5")


def test_a_moved_group_is_another_conversation() -> None:
    """Message numbers start again in the supergroup that a group becomes."""
    old, new = read(
        update(1, body=message(5, chat={"id": -200, "type": "group"})),
        update(2, body=message(5, chat={"id": -1000000000200, "type": "supergroup"})),
    )
    assert old.thread.thread_id != new.thread.thread_id
    assert old.event.id != new.event.id


def test_a_forward_and_a_quote_are_marked() -> None:
    event = one(forward_origin={"type": "hidden_user"}, quote={"text": "their words", "position": 0})
    assert event.labels == ["forwarded"]
    assert [citation.quote for citation in event.citations] == ["their words"]


def test_an_answer_to_another_chat_has_no_parent_here() -> None:
    elsewhere = {"message_id": 5, "chat": {"id": -1000000000300}}
    assert one(reply_to_message=elsewhere).parent_message_id is None
    assert one(reply_to_message={"message_id": 5}).parent_message_id == "5"


def test_a_topic_keeps_the_name_it_was_given_last() -> None:
    """Its first message, which every message in it answers, still has the first name."""
    topic = {"message_thread_id": 5, "is_topic_message": True}
    created = message(5, None, forum_topic_created={"name": "Old"}, **topic)
    renamed = message(6, None, forum_topic_edited={"name": "New"}, **topic)
    source = Reader()
    elements = source.read(update(1, body=created), update(2, body=renamed))
    source.updates.batch()
    elements += source.read(update(3, body=message(7, reply_to_message=created, **topic)))
    assert {e.thread.thread_id for e in elements} == {f"{CHAT}/5"}
    assert elements[2].thread.title == "Ops: New"
    assert Reader(checkpoints=source.memory.moved(4, 0)).memory.topics.get(f"{CHAT}/5") == "New"


def test_the_general_topic_is_the_chat() -> None:
    (element,) = read(update(1, message_thread_id=1, is_topic_message=True))
    assert isinstance(element, Heard)
    assert element.thread.thread_id == str(CHAT)


def test_direct_messages_of_a_channel_are_threads() -> None:
    (element,) = read(update(1, direct_messages_topic={"topic_id": 31, "user": ANA}))
    assert element.thread.thread_id == f"{CHAT}/31"


def test_a_private_chat_is_called_as_its_person() -> None:
    (element,) = read(update(1, chat={"id": 7, "type": "private", "first_name": "Ana", "last_name": "B"}))
    assert (element.thread.thread_id, element.thread.title, element.thread.account) == ("7", "Ana B", "ops")


def test_numbers_of_private_chats_count_per_account() -> None:
    private = update(1, chat={"id": 7, "type": "private"})
    mine, other = heard(Reader().read(private)), heard(Reader(account="other").read(private))
    assert mine[0].id != other[0].id
    assert heard(Reader().read(update(1)))[0].id == heard(Reader(account="other").read(update(1)))[0].id


def test_content_that_is_not_known_is_counted_beside_its_words() -> None:
    event, strange = read(update(1, text=None, rich_message={"blocks": [{"text": "one"}]}))
    assert (event.event.text, event.event.labels, event.event.raw_type) == (
        "one",
        ["unknown-kind"],
        "message/rich_message",
    )
    assert strange.unknown


def test_nothing_said_is_counted() -> None:
    elements = read(update(1, text="  "))
    assert [(s.outcome, s.what) for s in skipped(elements)] == [("empty", "message without words")]


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"message_id": ...}, "no-id"), ({"message_id": True}, "no-id"), ({"date": "soon"}, "no-date"),
        ({"date": 0}, "no-date"), ({"chat": {}}, "no-chat"), ({"chat": ...}, "no-chat"), ({"chat": [7]}, "no-chat"),
    ],
)  # fmt: skip
def test_what_makes_no_event_is_named(members: dict, reason: str) -> None:
    raw = json.dumps(update(1, **members)).encode()
    (found,) = rejected(read(raw))
    assert (found.reason, found.where, found.sample) == (reason, "telegram.ops: update 1", raw)


def test_an_edit_without_a_date_is_named() -> None:
    assert [r.reason for r in rejected(read(update(1, "edited_message")))] == ["no-edit-date"]
