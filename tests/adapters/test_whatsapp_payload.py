"""Every element of every array of a body is read, and a bad one costs itself alone."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.chat.whatsapp_payload import CONVERSATIONS, NOTICES
from adapters.contract import Element, Heard, Rejected, Skipped, Warned
from ingest.drift import DriftWatch
from tests.support.ai_exports import ANY, assert_conserved, broken, heard, ids, imported, rejected, skipped
from tests.support.messengers import case
from tests.support.whatsapp import (
    ANA,
    ANA_ID,
    CONTACT,
    OWN,
    change,
    history,
    message,
    messages,
    of_type,
    payload,
    read,
    status,
)


def texts(elements: list[Element]) -> list[str]:
    return [event.text for event in heard(elements)]


def test_every_element_of_every_array_is_read() -> None:
    """Case 45: two entries, two accounts, messages and states; a notice about the account is counted."""
    elements = read(case(45))
    assert texts(elements) == ["um", "dois", "delivered", "read", "três"]
    assert [each.what for each in skipped(elements)] == ["notice: account_update"]
    assert not rejected(elements)
    events = imported(elements).events
    assert len({event.event.id for event in events}) == 5
    assert {event.source.provider_account_key for event in events} == {"whatsapp/pn1", "whatsapp/pn2"}
    assert [event.source.account for event in events if event.event.text == "três"] == ["pn2"]
    assert [event.event.timestamp_iso[17:19] for event in events] == ["21", "22", "29", "28", "23"]
    states = [event for event in events if event.meta.parent_message_id == "wamid.out"]
    assert [(event.event.type, event.event.role, event.source.thread_id) for event in states] == [
        ("status", "system", ANA)
    ] * 2


def test_a_second_delivery_adds_nothing() -> None:
    assert len(imported(read(case(45), case(45))).events) == 5


@pytest.mark.parametrize(
    "bad", [None, 7, "x", [], {}, {"id": "wamid.9"}, message(9, timestamp="soon"), message(9, text={"body": 5})]
)
def test_a_bad_element_costs_itself(bad: object) -> None:
    elements = read(messages(message(1), bad, message(2)))
    assert texts(elements) == ["words", "words"]
    assert [type(each) for each in elements] == [Heard, Rejected, Heard]
    (found,) = rejected(elements)
    assert found.where == "whatsapp.shop: entry 0, change 0, messages 1"
    assert json.loads(found.sample) == bad


@pytest.mark.parametrize(
    "bad", [None, 7, [], {}, {"field": "messages"}, {"field": "messages", "value": {"messages": 1}}]
)
def test_a_bad_change_costs_itself(bad: object) -> None:
    good = change(messages=[message(1)])
    elements = read(payload(good, bad, change(messages=[message(2)])))
    assert texts(elements) == ["words", "words"]
    assert [each.where for each in rejected(elements)] == ["whatsapp.shop: entry 0, change 1"]


def test_a_bad_entry_costs_itself() -> None:
    body = messages(message(1))
    body["entry"] = [None, {"id": "WABA"}, *body["entry"]]
    elements = read(body)
    assert texts(elements) == ["words"]
    assert [each.reason for each in rejected(elements)] == ["not-an-object", "not-a-list"]


def test_a_bad_array_costs_itself() -> None:
    elements = read(messages(message(1), statuses={"id": "x"}))
    assert texts(elements) == ["words"]
    assert [(each.reason, each.where) for each in rejected(elements)] == [
        ("not-a-list", "whatsapp.shop: entry 0, change 0, statuses")
    ]


def test_old_messages_are_read_one_by_one() -> None:
    elements = read(history(message(1), {"id": "wamid.2"}, message(3)))
    assert texts(elements) == ["words", "words"]
    assert [each.where for each in rejected(elements)] == [
        "whatsapp.shop: entry 0, change 0, history 0, thread 0, message 1"
    ]


def test_thousands_of_old_messages_come_at_once() -> None:
    assert len(imported(read(history(*(message(number) for number in range(5000))))).events) == 5000


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "invalid-json"), (b"{", "invalid-json"), (b"[]", "not-an-object"), (b"[" * 9999, "too-deep"),
        (b"{}", "unknown-object"), (b'{"object": "page", "entry": []}', "unknown-object"),
        (b'{"object": "whatsapp_business_account"}', "not-a-list"),
    ],
)  # fmt: skip
def test_what_is_no_delivery_is_named(raw: bytes, reason: str) -> None:
    (found,) = rejected(read(raw))
    assert (found.reason, found.size_bytes) == (reason, found.size_bytes)


def test_an_unknown_field_is_noticed_and_kept() -> None:
    """Its share counts for drift; messages in a field of an unknown name are read all the same."""
    elements = read(
        payload({"field": "holograms", "value": {"beam": [1]}}, change("new_messages", messages=[message(1)]))
    )
    assert texts(elements) == ["words"]
    assert [(each.reason, json.loads(each.sample)["value"]) for each in rejected(elements)] == [
        ("unknown-field", {"beam": [1]})
    ]
    assert [each.unknown for each in skipped(elements)] == [True]


def test_a_new_format_is_noticed() -> None:
    """Unknown types, states and fields are signs of drift, also where their words could be kept."""
    new = payload(
        change(messages=[of_type(number, "hologram", {"text": "x"}) for number in range(4)]),
        change(statuses=[status(number, "teleported") for number in range(4)]),
        *({"field": "holograms", "value": {}} for _ in range(4)),
    )
    assert DriftWatch().note(read(new)) == {"unknown"}
    assert DriftWatch().note(read(*[case(45)] * 4)) == set()


@pytest.mark.parametrize("field", sorted(NOTICES))
def test_notices_about_the_account_are_counted(field: str) -> None:
    assert read(payload({"field": field, "value": {"event": "X"}})) == [Skipped("empty", f"notice: {field}")]


def test_a_number_that_nobody_names_is_no_account() -> None:
    """Keys and threads are made of it: a guess would put two numbers into one."""
    assert [each.reason for each in rejected(read(messages(message(1), metadata=...)))] == ["no-account"]


def test_half_characters_are_forgiven() -> None:
    """Bodies are escaped: a lone surrogate must not cost a message."""
    assert texts(read(json.dumps(messages(message(1, "a\ud800b"))).encode())) == ["a\ufffdb"]


ERROR = {"code": 1, "title": "T", "error_data": {"details": "d"}}
SYSTEM = {"body": "b", "wa_id": "15550100009", "user_id": "US.2", "type": "user_changed_number"}
EDIT = {"original_message_id": "wamid.1", "message": {"type": "text", "text": {"body": "new"}}}
UPDATE = {"wa_id": ANA, "detail": "d", "user_id": {"previous": ANA_ID, "current": "US.2"}, "timestamp": "1700000000"}
CHANGES = [
    change(messages=[message(1, context={"id": "wamid.0", "forwarded": True}, referral={"headline": "h"})]),
    change(messages=[of_type(2, "image", {"mime_type": "image/png", "caption": "c"}), of_type(3, "edit", EDIT)]),
    change(messages=[of_type(4, "revoke", {"original_message_id": "wamid.1"}), of_type(5, "system", SYSTEM)]),
    change(messages=[of_type(6, "reaction", {"message_id": "wamid.1", "emoji": "👍"}), message(7, group_id="G1")]),
    change(messages=[of_type(8, "contacts", [{"name": {"formatted_name": "B"}, "phones": [{"phone": "1"}]}])]),
    change(messages=[of_type(9, "interactive", {"type": "button_reply", "button_reply": {"title": "t"}})]),
    change(messages=[of_type(10, "order", {"text": "t", "product_items": [{"quantity": 1, "currency": "EUR"}]})]),
    change(messages=[of_type(11, "hologram", {"text": "x"}), message(12, type="unsupported", errors=[ERROR])]),
    change(messages=[of_type(13, "location", {"latitude": 1.5, "longitude": 2, "name": "n"})], contacts=[CONTACT, 1]),
    change(statuses=[status(1, "read"), status(2, "failed", errors=[ERROR])], errors=[ERROR]),
    change("smb_message_echoes", message_echoes=[message(14, **{"from": OWN, "to": ANA})]),
    history(message(15), context={"wa_id": ANA, "user_id": ANA_ID})["entry"][0]["changes"][0],
    change("history", history=[{"errors": [ERROR]}]),
    change("user_id_update", user_id_update=[UPDATE]),
    {"field": "account_update", "value": {"event": "X"}},
]  # fmt: skip


def test_the_whole_is_understood() -> None:
    elements = read(payload(*CHANGES))
    assert not rejected(elements)
    assert {type(each) for each in elements} == {Heard, Skipped, Warned}
    assert_conserved(elements)


@settings(max_examples=400, deadline=None)
@given(st.integers(0, len(CHANGES) - 1), st.data())
def test_any_fault_costs_that_change(number: int, data) -> None:
    """Null, missing, of another type, a copy of something else: what stands around it comes out as it would."""
    before, after = change(messages=[message(100, "before")]), change(messages=[message(101, "after")])
    elements = read(payload(before, data.draw(broken(CHANGES[number])), after))
    found = ids(elements)
    assert (found[0], found[-1]) == tuple(ids(read(payload(before, after))))
    assert "not-understood" not in {each.reason for each in rejected(elements)}
    assert_conserved(elements)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(["messages", "statuses", "message_echoes", "history", "user_id_update", "errors"]), st.data())
def test_any_value_in_place_of_any_element_costs_that_element(array: str, data) -> None:
    field = data.draw(st.sampled_from(sorted(CONVERSATIONS)))
    bad = data.draw(ANY)
    elements = read(
        payload(change(field, **{"messages": [message(1)], array: [bad]} | {"statuses": [status(2, "read")]}))
    )
    assert "not-understood" not in {each.reason for each in rejected(elements)}
    assert "read" in texts(elements)
    assert_conserved(elements)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_taken(raw: bytes) -> None:
    assert_conserved(read(raw))


@settings(max_examples=200, deadline=None)
@given(broken(json.loads(case(45))))
def test_any_fault_of_a_whole_body_is_taken(body: object) -> None:
    elements = read(body)
    assert elements
    assert "not-understood" not in {each.reason for each in rejected(elements)}
    assert_conserved(elements)


def test_a_fault_of_this_program_costs_one_element(monkeypatch) -> None:
    monkeypatch.setattr("adapters.chat.whatsapp_payload.status_elements", lambda *_, **__: 1 / 0)
    elements = read(messages(message(1), statuses=[status(1, "read")]))
    assert texts(elements) == ["words"]
    assert [(each.reason, each.detail) for each in rejected(elements)] == [("not-understood", "ZeroDivisionError")]
