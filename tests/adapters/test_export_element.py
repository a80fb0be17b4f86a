"""Rooms that Element exported give the events that live reading gives, with Matrix's own ids."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.chat.identity import matrix_event_id
from adapters.chat.matrix_content import without_fallback
from adapters.chat.matrix_events import RoomEvents
from adapters.chat.matrix_memory import MAX_SENDERS, Senders
from adapters.chat.matrix_people import People
from adapters.contract import Heard
from adapters.exports.element_export import ElementExportReader
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
)
from tests.support.messengers import case, element_room, matrix_event

READER = ElementExportReader()


def room(*events: dict, **options) -> list:
    return read(READER, as_json(element_room(*events)), **options)


LIKED = {"m.relates_to": {"rel_type": "m.annotation", "event_id": "$e9", "key": "👍"}}
POLL = {"m.poll": {"question": {"m.text": [{"body": "Q"}]}, "answers": [{"m.text": [{"body": "a"}]}]}}
IMAGE = {"msgtype": "m.image", "body": "a.png", "info": {"mimetype": "image/png"}}


def words(body: str, **members) -> dict:
    return {"msgtype": "m.text", "body": body, **members}


def edit(body: str, target: str, **members) -> dict:
    relation = {"rel_type": "m.replace", "event_id": target}
    return words(f"* {body}", **{"m.new_content": words(body), "m.relates_to": relation}, **members)


def test_an_edit_in_unsigned_is_an_event_of_its_own() -> None:
    """Case 57."""
    elements = read(READER, case(57))
    assert told(elements) == [
        ("message", "user", "teh plan"),
        ("message", "user", "the plan"),
        ("status", "user", "[undecrypted message]"),
        ("status", "service", "member join @ana:hs.test"),
    ]
    one, two, three, four = (f"$e{n}" for n in (1, 2, 3, 4))
    assert ids(elements) == [
        *map(matrix_event_id, (one, two)),
        matrix_event_id(three, "undecrypted"),
        matrix_event_id(four),
    ]
    assert [event.labels for event in heard(elements)] == [[], ["edit"], ["undecrypted"], ["membership"]]
    assert heard(elements)[1].message_id == "$e1"
    assert {e.thread.thread_id for e in elements if isinstance(e, Heard)} == {"!room:hs.test"}
    assert imported(elements).events[0].event.timestamp_iso == "2023-11-14T22:13:20.001Z"


def test_own_words_are_the_operators_once_the_user_id_is_given() -> None:
    """The header has display names only."""
    (mine, _) = room(matrix_event(1, sender="@op:hs.test"), matrix_event(2), own_name="@Op:hs.test")
    assert (mine.event.role, imported([mine]).events[0].event.role) == ("self", "operator")


def test_edits_are_told_from_words_that_begin_with_an_asterisk() -> None:
    """Case 27 of the live reading: the fallback is no text, somebody else's edit is no edit."""
    elements = room(
        matrix_event(1, words("v1")),
        matrix_event(2, edit("v2", "$e1")),
        matrix_event(3, edit("v3", "$e1"), sender="@mallory:hs.test"),
        matrix_event(4, words("* a list item, not an edit")),
    )
    assert [(event.text, event.labels, event.message_id) for event in heard(elements)] == [
        ("v1", [], "$e1"),
        ("v2", ["edit"], "$e1"),
        ("* v3", [], "$e3"),
        ("* a list item, not an edit", [], "$e4"),
    ]


def test_an_edit_that_comes_twice_has_one_id() -> None:
    whole = matrix_event(2, edit("v2", "$e1"))
    first = matrix_event(1, words("v1"), unsigned={"m.relations": {"m.replace": whole}})
    assert imported(room(first, whole)).counts["emitted"] == 2


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("> <@op:hs.test> asked\n> more\n\nanswer\n> mine", "answer\n> mine"),
        ("> <@op:hs.test> asked\nanswer", "answer"),
        ("answer", "answer"),
        (">not a quote", ">not a quote"),
        ("> only a quote", ""),
    ],
)
def test_the_quote_before_a_reply_leaves(body: str, left: str) -> None:
    assert without_fallback(body) == left


def test_a_reply_has_a_parent() -> None:
    reply = {"m.relates_to": {"m.in_reply_to": {"event_id": "$e1"}}}
    elements = room(matrix_event(2, words("> <@op:hs.test> q\n\na", **reply)), matrix_event(3, words("> quoted")))
    assert [(event.text, event.parent_message_id) for event in heard(elements)] == [("a", "$e1"), ("> quoted", None)]


def test_a_thread_that_falls_back_is_no_reply() -> None:
    related = {
        "rel_type": "m.thread",
        "event_id": "$root",
        "is_falling_back": True,
        "m.in_reply_to": {"event_id": "$x"},
    }
    answer = {**related, "is_falling_back": False}
    elements = room(
        matrix_event(1, words("a", **{"m.relates_to": related})),
        matrix_event(2, words("b", **{"m.relates_to": answer})),
    )
    assert [event.parent_message_id for event in heard(elements)] == ["$root", "$x"]
    assert [event.labels for event in heard(elements)] == [["thread"], ["thread"]]


@pytest.mark.parametrize(
    ("content", "text", "kind", "name"),
    [
        (IMAGE, "[image: image/png]", "image", "a.png"),
        ({"msgtype": "m.image", "body": "look", "filename": "a.png", "url": "mxc://x"}, "look", "image", "a.png"),
        ({"msgtype": "m.file", "body": "p.pdf", "file": {"url": "mxc://y"}}, "[file: p.pdf]", "file", "p.pdf"),
        ({"msgtype": "m.audio"}, "[audio]", "audio", None),
    ],
)  # fmt: skip
def test_media(content: dict, text: str, kind: str, name: str | None) -> None:
    (event,) = heard(room(matrix_event(1, content)))
    assert (event.text, event.attachments[0].kind, event.attachments[0].name) == (text, kind, name)


@pytest.mark.parametrize(
    ("members", "told_as"),
    [
        ({"content": {"msgtype": "m.notice", "body": "x"}}, ("message", "notice", "x")),
        ({"content": {"msgtype": "m.emote", "body": "waves"}}, ("message", "user", "waves")),
        ({"content": {"msgtype": "org.own.kind"}}, ("message", "user", "[org.own.kind]")),
        ({"kind": "m.sticker", "content": {"body": "cat", "url": "mxc://x"}}, ("message", "user", "cat")),
        ({"kind": "m.room.encrypted", "content": {"algorithm": "x"}}, ("status", "user", "[undecrypted message]")),
        ({"kind": "m.reaction", "content": LIKED}, ("status", "user", "👍")),
        ({"kind": "m.call.invite", "content": {}}, ("status", "service", "[m.call.invite]")),
        ({"kind": "m.room.name", "content": {"name": "New"}, "state_key": ""}, ("status", "service", "name New")),
        ({"kind": "m.poll.start", "content": POLL}, ("message", "user", "[poll: Q]\n- a")),
    ],
)  # fmt: skip
def test_every_kind_of_event(members: dict, told_as: tuple) -> None:
    assert told(room(matrix_event(1, **members))) == [told_as]


def test_redactions_in_both_places_and_of_what_is_gone() -> None:
    """Case 31 of the live reading: `redacts` at the top or in the content; what is gone is no message."""
    because = {"event_id": "$e6", "sender": "@op:hs.test", "origin_server_ts": 1700000000000, "content": {}}
    elements = room(
        matrix_event(2, {"reason": "typo"}, "m.room.redaction", redacts="$e1"),
        matrix_event(3, {"redacts": "$e4"}, "m.room.redaction"),
        matrix_event(5, {}, unsigned={"redacted_because": because}),
        matrix_event(7, {}),
    )
    assert [(event.text, event.labels, event.parent_message_id) for event in heard(elements)] == [
        ("[redaction: typo]", ["redaction"], "$e1"),
        ("[redaction]", ["redaction"], "$e4"),
        ("[redaction]", ["redaction"], "$e5"),
    ]
    assert ids(elements)[2] == matrix_event_id("$e6")
    assert [s.what for s in skipped(elements)] == ["redacted message"]


def test_room_ids_are_opaque() -> None:
    """Rooms of version 12 have ids without a server."""
    (element,) = room(matrix_event(1, room_id="!7tQiR_UI7ABkIpMR-8YpUpQ1Fajl5Q367YPe30Pxc5Y"))
    assert element.thread.thread_id == "!7tQiR_UI7ABkIpMR-8YpUpQ1Fajl5Q367YPe30Pxc5Y"


def test_an_event_without_a_room_stays_in_the_room_before() -> None:
    second = matrix_event(2)
    del second["room_id"]
    elements = room(matrix_event(1), second)
    assert elements[0].thread is elements[1].thread


def test_an_event_without_an_id_is_named() -> None:
    elements = room(matrix_event(1), matrix_event(2, event_id=None), matrix_event(3))
    assert [r.reason for r in rejected(elements)] == ["no-id"]
    assert len(heard(elements)) == 2


def test_a_cut_file_gives_what_is_whole() -> None:
    raw = as_json(element_room(matrix_event(1), matrix_event(2)))
    elements = read(READER, raw[:-40])
    assert len(heard(elements)) == 1
    assert [r.reason for r in rejected(elements)] == ["file-cut"]


def test_senders_are_remembered_up_to_a_bound() -> None:
    senders = Senders()
    events = RoomEvents(People(), senders)
    for number in range(MAX_SENDERS + 5):
        list(events.events(matrix_event(number)))
    assert len(senders) == MAX_SENDERS


def test_the_header_decides() -> None:
    assert recognises(READER, case(57), "anything")
    assert not recognises(READER, b'{"messages": []}')
    assert not recognises(READER, b"")


WHOLE = [
    matrix_event(1, words("a")),
    matrix_event(2, edit("b", "$e1"), unsigned={"m.relations": {"m.replace": matrix_event(9, edit("c", "$e2"))}}),
    matrix_event(3, {"msgtype": "m.image", "body": "x", "info": {"mimetype": "image/png", "size": 3}}),
    matrix_event(4, {"m.relates_to": {"event_id": "$e1", "key": "y"}}, "m.reaction"),
    matrix_event(5, {"membership": "join"}, "m.room.member", state_key="@ana:hs.test"),
]


@settings(max_examples=200)
@given(st.integers(0, len(WHOLE) - 1), st.data())
def test_any_fault_of_an_event_costs_that_event(number: int, data) -> None:
    events = [*WHOLE[:number], data.draw(broken(WHOLE[number])), *WHOLE[number + 1 :]]
    others = ids(room(*WHOLE[:number], *WHOLE[number + 1 :]))
    elements = room(*events)
    assert set(others) <= set(ids(elements))
    assert ids(elements) == ids(room(*events))
    assert_conserved(elements)


@given(st.binary(max_size=300))
def test_any_bytes_are_read_without_an_error(raw: bytes) -> None:
    recognises(READER, raw)
    assert_conserved(read(READER, b'{"room_name":"x","exported_by":"y","messages":[' + raw))
    assert_conserved(read(READER, raw))
