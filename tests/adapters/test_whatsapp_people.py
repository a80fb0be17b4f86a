"""A person has one thread, whichever of their ids a delivery names, and a repeat stands where it stood."""

import json

from hypothesis import given
from hypothesis import strategies as st

from adapters.chat import whatsapp_people
from adapters.chat.whatsapp_people import Directory, person_id
from adapters.contract import Element
from tests.support.ai_exports import rejected, warned
from tests.support.whatsapp import ANA, ANA_ID, CONTACT, change, message, messages, of_type, payload, read, status

NEW = "15550100009"


def threads(elements: list[Element]) -> list[str]:
    return [each.thread.thread_id for each in elements]


def test_somebody_without_a_number_is_known_by_the_user_id() -> None:
    named = {"from": ..., "from_user_id": ANA_ID}
    assert threads(read(messages(message(1, **named), contacts=...))) == [ANA_ID]
    only = {"profile": {"username": "ana"}, "user_id": ANA_ID}
    (element,) = read(messages(message(1, **{"from": ...}), contacts=[only]))
    assert (element.thread.thread_id, element.thread.title, element.event.author_id) == (ANA_ID, "ana", ANA_ID)


def test_somebody_whom_nobody_names_is_rejected() -> None:
    elements = read(messages(message(1, **{"from": ...}), message(2), contacts=[CONTACT, {"user_id": "US.2"}]))
    assert [each.reason for each in rejected(elements)] == ["no-person"]
    assert len(elements) == 2


def test_states_that_name_the_number_alone_stand_beside_the_words() -> None:
    people = Directory({}, "whatsapp.shop")
    elements = read(messages(message(1)), payload(change(contacts=..., statuses=[status(2, "read")])), people=people)
    assert threads(elements) == [ANA_ID, ANA_ID]


def test_who_was_first_seen_by_number_stays_there() -> None:
    """The first thread is in the log: what is sent again must not come out in another."""
    first = payload(change(contacts=..., statuses=[status(2, "sent")]))
    assert threads(read(first, messages(message(1)), first)) == [ANA] * 3


def test_a_new_number_and_a_new_user_id_join_the_thread() -> None:
    number = of_type(2, "system", {"body": "x", "wa_id": NEW, "type": "user_changed_number"})
    user_id = {"body": "x", "previous_user_id": ANA_ID, "user_id": "US.2", "type": "user_changed_user_id"}
    bodies = [
        messages(message(1)),
        messages(number, contacts=...),
        messages(message(3, **{"from": NEW}), contacts=...),
        messages(of_type(4, "system", user_id, **{"from": ...}), contacts=...),
        messages(message(5, **{"from": ..., "from_user_id": "US.2"}), contacts=...),
    ]
    assert threads(read(*bodies)) == [ANA_ID] * 5


def test_an_update_of_a_user_id_joins_the_thread() -> None:
    update = {"wa_id": ANA, "detail": "changed", "user_id": {"previous": ANA_ID, "current": "US.2"},
              "timestamp": "1700000002"}  # fmt: skip
    bodies = [messages(message(1)), payload(change("user_id_update", contacts=..., user_id_update=[update]))]
    after = messages(message(3, **{"from": ..., "from_user_id": "US.2"}), contacts=...)
    assert threads(read(*bodies, after)) == [ANA_ID] * 3


def test_a_number_that_was_given_to_somebody_else_is_not_joined() -> None:
    """Another user id without a word of a change is another person."""
    stranger = {"profile": {"name": "Bo"}, "wa_id": ANA, "user_id": "US.777"}
    bodies = [messages(message(1)), messages(message(2, from_user_id="US.777"), contacts=[stranger])]
    assert threads(read(*bodies, bodies[0])) == [ANA_ID, "US.777", ANA_ID]


def test_what_was_learned_outlives_a_restart() -> None:
    people = Directory({}, "whatsapp.shop")
    read(payload(change(contacts=..., statuses=[status(2, "sent")])), messages(message(1)), people=people)
    kept = people.unsaved()
    assert all(json.loads(state)["key"] == ANA for state in kept.values())
    assert set(kept) == {f"person:{ANA}", f"person:{ANA_ID}"}
    again = Directory(kept, "whatsapp.shop")
    assert threads(read(messages(message(3)), people=again)) == [ANA]
    assert again.unsaved() == {}


def test_what_is_not_known_to_be_in_the_log_is_given_again() -> None:
    people = Directory({}, "whatsapp.shop")
    people.key(ANA_ID, None)
    first = people.unsaved()
    people.key(None, ANA)
    people.saved(first)
    assert set(people.unsaved()) == {f"person:{ANA}"}


def test_damage_is_named_and_costs_that_person() -> None:
    states = {"person:1": b"{", "person:2": b'{"key": "x", "version": 9}', "person:3": b'{"key": "US.3"}', "x": b"{}"}
    people = Directory(states, "whatsapp.shop")
    assert [each.split(" is ")[0] for each in warned(people.warnings)] == [
        "what was remembered as person:1", "what was remembered as person:2", "what was remembered as x"
    ]  # fmt: skip
    assert people.key(None, "3") == "US.3"


def test_memory_is_bounded(monkeypatch) -> None:
    monkeypatch.setattr(whatsapp_people, "MAX_IDS", 2)
    people = Directory({}, "whatsapp.shop")
    for each in ("1", "2", "1", "3"):
        people.key(None, each)
    assert people.unsaved()["person:2"] is None
    assert len(people._keys) == 2


@given(st.lists(st.tuples(st.sampled_from([None, "US.1", "US.2"]), st.sampled_from([None, "1", "2"])), max_size=12))
def test_whoever_was_named_keeps_the_key(named: list[tuple[str | None, str | None]]) -> None:
    """Repeats come in any order, also after a restart."""
    people = Directory({}, "s")
    first = [people.key(*each) for each in named]
    again = Directory(people.unsaved(), "s")
    for each, key in reversed(list(zip(named, first, strict=True))):
        assert people.key(*each) == again.key(*each) == key


def test_ids_are_plain() -> None:
    assert person_id("+15550100002") == person_id(15550100002) == ANA
    assert person_id(" ") is None
    odd = person_id("a\0b c")
    assert odd is not None
    assert "\0" not in odd
