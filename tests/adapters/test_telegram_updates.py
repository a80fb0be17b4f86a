"""Whatever an update holds, it costs itself alone; what is no message is told as a status, and nothing is dropped."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.chat.identity import telegram_event_id
from adapters.chat.telegram_updates import KINDS, MAX_UPDATE_ID, Update
from adapters.contract import Heard, Rejected, Skipped
from schemas.captured import CapturedEvent
from tests.support.ai_exports import ANY, assert_conserved, broken, heard, ids, imported, rejected, skipped, told
from tests.support.messengers import case
from tests.support.telegram import ANA, GROUP, Reader, message, read, update

CHAT = GROUP["id"]
DATE = 1700000500


def one(kind: str, body: dict, **options) -> tuple[Heard, CapturedEvent]:
    (element,) = read(update(1, kind, body), **options)
    assert isinstance(element, Heard), element
    return element, element.event


def test_a_poisoned_update_costs_itself() -> None:
    """Case 05: it goes whole to `rejected`; a kind that is not known yet is kept as a status."""
    updates = json.loads(case(5))["result"]
    elements = read(*updates)
    assert [event.text for event in heard(elements)] == ["before", "after", "[holographic_call]"]
    assert [type(element) for element in elements] == [Heard, Rejected, Heard, Heard, Skipped]
    (bad,) = rejected(elements)
    assert (bad.reason, json.loads(bad.sample)) == ("no-date", updates[1])
    last = imported(elements).events[-1]
    assert (last.event.type, last.meta.raw_type) == ("status", "holographic_call")


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"text": ["a"]}, "bad-text"),
        ({"text": None, "caption": {"x": 1}}, "bad-text"),
        ({"date": 1e30}, "no-date"),
        ({"date": True}, "no-date"),
        ({"message_id": "x"}, "no-id"),
        ({"chat": {}}, "no-chat"),
    ],
)
def test_poison_of_every_kind_is_kept_and_named(members: dict, reason: str) -> None:
    """The kind of case 05: nothing is passed over as if nobody had said anything, and what comes after is read."""
    poison = message(1, **members)
    elements = read(update(1, "message", poison), update(2, "message", message(2, text="after")))
    (bad,) = rejected(elements)
    assert (bad.reason, json.loads(bad.sample)["message"]) == (reason, json.loads(json.dumps(poison)))
    assert [event.text for event in heard(elements)] == ["after"]


def test_an_update_that_changes_nothing_is_counted() -> None:
    body = {"business_connection_id": "bc1", "chat": {"id": 7, "type": "private"}, "message_ids": []}
    assert [found.what for found in skipped(read(update(1, "deleted_business_messages", body)))] == [
        "update that changes nothing"
    ]


def test_reactions_have_the_ids_that_exports_give() -> None:
    body = {
        "chat": GROUP, "message_id": 5, "user": ANA, "date": DATE,
        "old_reaction": [{"type": "emoji", "emoji": "🔥"}, {"type": "emoji", "emoji": "👀"}],
        "new_reaction": [{"type": "emoji", "emoji": "👀"}, {"type": "emoji", "emoji": "👍"}],
    }  # fmt: skip
    given_, taken = heard(read(update(1, "message_reaction", body), operators=(7,)))
    assert (given_.text, given_.role, given_.parent_message_id, given_.labels) == ("👍", "self", "5", ["reaction"])
    assert given_.id == telegram_event_id(CHAT, 5, "reaction", "7", "👍")
    assert (taken.text, taken.labels, taken.times) == ("[removed: 🔥]", ["reaction", "removed"], [DATE])


def test_a_reaction_that_changes_nothing_is_counted() -> None:
    body = {"chat": GROUP, "message_id": 5, "user": ANA, "date": DATE, "old_reaction": [], "new_reaction": []}
    assert [(s.outcome, s.what) for s in skipped(read(update(1, "message_reaction", body)))] == [
        ("empty", "reaction without a change")
    ]


def test_counts_of_reactions_are_told() -> None:
    counted = [
        {"type": {"type": "emoji", "emoji": "👍"}, "total_count": 3},
        {"type": {"type": "paid"}, "total_count": 1},
    ]
    body = {"chat": GROUP, "message_id": 5, "date": DATE, "reactions": counted}
    _, event = one("message_reaction_count", body)
    assert (event.text, event.parent_message_id, event.times) == ("👍 (3), [paid] (1)", "5", [DATE])


def test_a_pressed_button_tells_its_data() -> None:
    """The message it was on may be inaccessible: its date is then 0."""
    body = {"id": "q", "from": ANA, "data": "yes", "message": {"chat": GROUP, "message_id": 5, "date": 0}}
    element, event = one("callback_query", body)
    assert (event.type, event.role, event.text, event.parent_message_id) == ("status", "user", "yes", "5")
    assert element.thread.thread_id == str(CHAT)


def test_a_time_that_is_not_told_is_that_of_the_update_before() -> None:
    body = {"id": "q", "from": ANA, "data": "yes", "message": {"chat": GROUP, "message_id": 5, "date": 0}}
    events = imported(read(update(1), update(2, "callback_query", body))).events
    assert [event.event.timestamp_iso for event in events] == ["2023-11-14T22:13:21.000Z"] * 2
    assert events[1].event.labels == ["callback", "time-inferred"]


def test_members_who_come_and_go_are_told() -> None:
    body = {
        "chat": GROUP, "from": ANA, "date": DATE,
        "old_chat_member": {"user": {"id": 8, "first_name": "Bea"}, "status": "member"},
        "new_chat_member": {"user": {"id": 8, "first_name": "Bea"}, "status": "kicked"},
    }  # fmt: skip
    for kind in ("chat_member", "my_chat_member"):
        _, event = one(kind, body)
        assert (event.text, event.labels, event.author_id) == ("Bea: member → kicked", ["membership"], "7")


def test_a_request_to_join_is_told() -> None:
    _, event = one("chat_join_request", {"chat": GROUP, "from": ANA, "date": DATE, "bio": "hello"})
    assert event.text == "Ana: chat join request: hello"


def test_polls_belong_to_no_chat() -> None:
    element, event = one("poll", {"id": "9", "question": "Q?", "options": [{"text": "a", "voter_count": 1}]})
    assert (event.text, element.thread.thread_id) == ("[poll: Q?]\n- a", "updates")
    _, event = one("poll_answer", {"poll_id": "9", "user": ANA, "option_ids": [0, 2]})
    assert (event.text, event.role) == ("[poll answer: 9: 0, 2]", "user")
    _, event = one("poll_answer", {"poll_id": "9", "user": ANA, "option_ids": []})
    assert event.text == "[poll answer: 9: taken back]"


def test_every_deleted_message_is_named() -> None:
    body = {"business_connection_id": "bc1", "chat": {"id": 7, "type": "private"}, "message_ids": [1, 2]}
    events = heard(read(update(1, "deleted_business_messages", body)))
    assert [(event.type, event.parent_message_id) for event in events] == [("status", "1"), ("status", "2")]
    assert len({event.id for event in events}) == 2


def test_an_unknown_kind_keeps_its_words_and_its_chat() -> None:
    """It is counted as unknown beside its event, so that a new format is noticed."""
    elements = read(update(1, "story_message", {"chat": GROUP, "date": DATE, "parts": [{"text": "once"}]}))
    element, strange = elements
    assert strange == Skipped("empty", "unknown kind of update or message")
    assert isinstance(element, Heard)
    event = element.event
    assert (event.text, event.raw_type, event.times) == ("once", "story_message", [DATE])
    assert element.thread.thread_id == str(CHAT)


def test_a_repeat_has_the_same_ids() -> None:
    """Redelivery gives the same update again; a number that the server uses a second time is another update."""
    body = {"id": "q", "from": ANA, "data": "yes"}
    assert ids(read(update(1, "callback_query", body))) == ids(read(update(1, "callback_query", body)))
    dated = [update(1, "chat_boost", {"chat": GROUP, "date": DATE + week}) for week in (0, 604800)]
    assert len(set(ids(read(*dated)))) == 2


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"{", "invalid-json"), (b"[]", "not-an-object"), (b'"x"', "not-an-object"), (b"{}", "no-id"),
        (b'{"update_id": 1}', "no-kind"), (b'{"update_id": 1, "message": []}', "no-kind"),
        (b'{"update_id": "1", "message": {}}', "no-id"), (b'{"update_id": 99999999999, "message": {}}', "no-id"),
        (b"[" * 9999, "too-deep"),
    ],
)  # fmt: skip
def test_what_is_no_update_is_named(raw: bytes, reason: str) -> None:
    assert [r.reason for r in rejected(read(raw))] == [reason]


def test_a_number_out_of_range_cannot_carry_the_offset_away() -> None:
    assert Update.read(b'{"update_id": %d}' % MAX_UPDATE_ID).number == MAX_UPDATE_ID
    assert Update.read(b'{"update_id": %d}' % (MAX_UPDATE_ID + 1)).number is None


def test_half_characters_are_forgiven() -> None:
    """Strict JSON has no lone surrogates; one of them must not cost a message."""
    raw = json.dumps(update(1, text="a\ud800b")).encode()
    assert told(read(raw)) == [("message", "user", "a\ufffdb")]


TOPIC = {"message_thread_id": 5, "is_topic_message": True}
WHOLE = [
    update(1, reply_to_message=message(9), forward_origin={"type": "user"}, entities=[{"type": "bold", "offset": 0}]),
    update(2, "edited_message", edit_date=DATE, photo=[{"file_id": "f", "file_size": 3}], caption="look"),
    update(3, **TOPIC, reply_to_message=message(5, None, forum_topic_created={"name": "T"}, **TOPIC)),
    update(4, text=None, new_chat_members=[ANA]),
    update(5, text=None, poll={"question": "Q", "options": [{"text": "a"}]}),
    update(6, "channel_post", sender_chat=GROUP, **{"from": ...}),
    update(7, "business_message", chat={"id": 7, "type": "private"}, business_connection_id="bc1"),
    update(8, "callback_query", {"id": "q", "from": ANA, "data": "d", "message": message(5)}),
    update(9, "message_reaction", {"chat": GROUP, "message_id": 5, "user": ANA, "date": DATE, "old_reaction": [],
           "new_reaction": [{"type": "emoji", "emoji": "👍"}]}),
    update(10, "chat_member", {"chat": GROUP, "from": ANA, "date": DATE, "new_chat_member": {"user": ANA}}),
    update(11, "business_connection", {"id": "bc1", "user": ANA, "user_chat_id": 7, "date": DATE, "is_enabled": True}),
    update(12, "deleted_business_messages", {"business_connection_id": "bc1", "chat": {"id": 7}, "message_ids": [1]}),
    update(13, "poll_answer", {"poll_id": "9", "user": ANA, "option_ids": [0]}),
    update(14, "message_reaction_count", {"chat": GROUP, "message_id": 5, "date": DATE, "reactions": [{"type": {}}]}),
    update(15, "something_new", {"chat": GROUP, "x": [{"text": "y"}]}),
    update(16, text=None, venue={"location": {"latitude": 1.5}, "title": "T"}, media_group_id="1", quote={"text": "q"}),
    update(17, text=None, paid_media={"paid_media": [{"type": "photo", "photo": [{"file_size": 1}]}]}),
    update(18, text=None, audio={"title": "a"}, dice={"emoji": "x", "value": 2}, checklist={"tasks": [{"text": "t"}]}),
    update(19, text=None, pinned_message=message(5)),
]  # fmt: skip


def test_the_whole_is_understood() -> None:
    elements = read(*WHOLE)
    assert not rejected(elements)
    assert_conserved(elements)


@settings(max_examples=400, deadline=None)
@given(st.integers(0, len(WHOLE) - 1), st.data())
def test_any_fault_costs_that_update(number: int, data) -> None:
    """Null, missing, of another type, a copy of something else: the others come out as they would, in order.

    Only what a bad update should have told is missing: who owns a business account, what a topic is called.
    """
    bad = data.draw(broken(WHOLE[number]))
    around = [update(100, text="before"), update(101, text="after")]
    elements = read(around[0], json.dumps(bad).encode(), around[1])
    found = ids(elements)
    assert (found[0], found[-1]) == tuple(ids(read(*around)))
    assert "not-understood" not in {r.reason for r in rejected(elements)}
    assert_conserved(elements)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from([*KINDS, "something_new"]), ANY)
def test_any_value_in_place_of_any_kind_is_taken(kind: str, value: object) -> None:
    elements = read(json.dumps({"update_id": 1, kind: value}).encode())
    assert "not-understood" not in {r.reason for r in rejected(elements)}
    assert_conserved(elements)


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_taken(raw: bytes) -> None:
    assert_conserved(read(raw))


def test_a_fault_of_this_program_costs_one_update(monkeypatch) -> None:
    """Named as such, with the whole update, and never a reason to read the batch for ever."""
    monkeypatch.setattr("adapters.chat.telegram_updates.message_event", lambda *_: 1 / 0)
    source = Reader()
    (bad,) = rejected(source.read(update(1)))
    assert (bad.reason, bad.detail) == ("not-understood", "ZeroDivisionError")
    assert json.loads(bad.sample) == update(1)
