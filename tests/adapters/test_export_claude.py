"""Claude exports are read flat, branched and one by one; edits are branches, and what is bad costs only itself."""

import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.contract import PermanentSourceError, Skipped
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
from tests.support.claude import READER, ROOT, assistant, chat, elements, human, iso, rich, words

TWO = [chat(human("m1", "one"), assistant("m2", "1", at=2)), chat(human("m3", "two"), key="cl-2")]
FORMS = {
    "array": as_json(TWO),
    "pretty": json.dumps(TWO, indent=1).encode(),
    "byte order mark": b"\xef\xbb\xbf\n" + as_json(TWO),
    "wrapped": as_json({"conversations": TWO}),
    "one behind the other": b"\n".join(map(as_json, TWO)),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_events(form: str) -> None:
    assert recognises(READER, FORMS[form], "users.dms")
    found = read(READER, FORMS[form])
    assert told(found) == [("message", "human", "one"), ("message", "assistant", "1"), ("message", "human", "two")]
    assert ids(found) == ids(read(READER, FORMS["array"]))
    assert not rejected(found)


def test_a_single_object_is_one_conversation_with_the_same_ids() -> None:
    """Browser extensions save claude.ai's own form: text is always empty, model and settings are there."""
    saved = chat(human("m1", "one", text=""), assistant("m2", "1", at=2, text=""), model="claude-opus", settings={})
    assert recognises(READER, as_json(saved))
    found = read(READER, as_json(saved))
    assert ids(found) == ids(elements(TWO[0]))
    assert [event.model for event in heard(found)] == [None, "claude-opus"]


@pytest.mark.parametrize(
    "other",
    [
        {"uuid": "1", "name": "p", "prompt_template": "", "docs": []},
        {"id": "1", "title": "t", "mapping": {}, "create_time": 1},
        {"conversations_memory": "x", "account_uuid": "a"},
        {"uuid": "1", "name": "t", "created_at": "", "updated_at": ""},
    ],
)
def test_other_files_are_not_taken(other: dict) -> None:
    assert not recognises(READER, as_json([other]))


def test_a_file_that_is_no_json_fails_as_a_whole() -> None:
    with pytest.raises(PermanentSourceError):
        read(READER, b"hello")


def test_thread_title_project_and_times() -> None:
    (element,) = elements(chat(human("m1", "hi"), project_uuid="p-1"), account="ana")
    thread = element.thread
    assert (thread.provider, thread.thread_id, thread.account, thread.channel_id) == ("claude", "cl-1", "ana", "p-1")
    assert (thread.title, element.nearby) == ("Ferns", (iso(0), iso(59)))


@pytest.mark.parametrize("name", [None, "", 7])
def test_a_conversation_may_have_no_name(name: object) -> None:
    assert elements(chat(human("m1", "hi"), name=name))[0].thread.title is None


def test_without_parents_the_order_of_the_array_holds() -> None:
    found = heard(elements(chat(human("m1", "a", at=5), assistant("m2", "b", at=3), human("m3", "c", at=9))))
    assert [(e.message_id, e.parent_message_id, e.branch_id) for e in found] == [
        ("m1", None, None), ("m2", "m1", None), ("m3", "m2", None),
    ]  # fmt: skip


def test_edits_and_retries_are_branches() -> None:
    found = heard(elements(rich()))
    assert [(e.message_id, e.branch_id) for e in found if e.type == "message"] == [
        ("m1", None), ("m2", None), ("m4", None), ("m3", "m3"),
    ]  # fmt: skip
    assert {e.message_id: e.parent_message_id for e in found} == {"m1": None, "m2": "m1", "m4": "m2", "m3": "m1"}


def test_official_exports_name_no_leaf_so_the_newest_is_live() -> None:
    branched = chat(
        human("m1", "a", parent_message_uuid=ROOT),
        assistant("new", "b", at=9, parent_message_uuid="m1"),
        assistant("old", "c", at=3, parent_message_uuid="m1"),
    )
    assert [e.message_id for e in heard(elements(branched)) if not e.branch_id] == ["m1", "new"]


def test_the_named_leaf_wins_over_the_newest() -> None:
    branched = chat(
        human("m1", "a", parent_message_uuid=ROOT),
        assistant("new", "b", at=9, parent_message_uuid="m1"),
        assistant("old", "c", at=3, parent_message_uuid="m1"),
        current_leaf_message_uuid="old",
    )
    assert [e.message_id for e in heard(elements(branched)) if not e.branch_id] == ["m1", "old"]


@pytest.mark.parametrize("parent", [None, "gone", 7, [], "m2"])
def test_a_message_whose_parent_is_unknown_follows_the_one_before(parent: object) -> None:
    branched = chat(
        human("m1", "a", parent_message_uuid=ROOT),
        human("m2", "b", at=2, parent_message_uuid=parent),
        human("m3", "c", at=3, parent_message_uuid="m2"),
    )
    found = heard(elements(branched))
    assert [(e.message_id, e.parent_message_id) for e in found] == [("m1", None), ("m2", "m1"), ("m3", "m2")]


def test_an_edit_of_the_first_message_is_a_second_root() -> None:
    branched = chat(human("m1", "a", parent_message_uuid=ROOT), human("m2", "b", at=2, parent_message_uuid=ROOT))
    assert [(e.message_id, e.branch_id) for e in heard(elements(branched))] == [("m2", None), ("m1", "m1")]


def test_a_ring_is_told_and_read_once() -> None:
    ring = chat(human("m1", "a", parent_message_uuid="m2"), human("m2", "b", parent_message_uuid="m1"), key="cl-loop")
    found = elements(ring)
    assert sorted(e.message_id for e in heard(found)) == ["m1", "m2"]
    assert any("cycle in cl-loop" in message for message in warned(found))


def test_thousands_of_messages_need_no_recursion() -> None:
    chain = [human(f"m{n}", "x", parent_message_uuid=f"m{n - 1}" if n else ROOT) for n in range(5000)]
    assert len(heard(elements(chat(*chain)))) == 5000


@pytest.mark.parametrize("messages", [[], None])
def test_conversations_without_messages_are_counted(messages: object) -> None:
    """In one export 1,300 of 1,547 had none."""
    assert elements(chat(chat_messages=messages)) == [Skipped("empty", "conversation without messages")]


def test_a_conversation_of_empty_messages_gives_nothing() -> None:
    found = elements(chat(human("m1", [], text=""), assistant("m2", [words("  ")], text="")))
    assert not heard(found)
    assert [element.what for element in skipped(found)] == ["message without words"] * 2


def test_bad_conversations_are_named_and_cost_only_themselves() -> None:
    odd = [
        chat(key="cl-bad", chat_messages=5),
        chat(key="cl-map", chat_messages={"a": 1}),
        {"uuid": "cl-none"},
        None,
        "x",
    ]
    found = elements(TWO[0], *odd, TWO[1])
    assert len(heard(found)) == 3
    assert [element.reason for element in rejected(found)] == ["no-messages"] * 3 + ["not-an-object"] * 2
    named = " ".join(element.detail for element in rejected(found))
    assert all(name in named for name in ("cl-bad", "cl-map", "cl-none"))


def test_a_bad_message_costs_only_itself() -> None:
    found = elements(chat(human("m1", "a"), 5, None, "x", [], human("m2", "b"), key="cl-7"))
    assert [(e.message_id, e.parent_message_id) for e in heard(found)] == [("m1", None), ("m2", "m1")]
    assert [element.where.split(", ", 1)[1] for element in rejected(found)] == [
        f"conversation cl-7, message {place}" for place in (2, 3, 4, 5)
    ]


def test_messages_without_a_uuid_are_named_by_what_they_say() -> None:
    nameless = [human(None, "a"), human(None, "a"), human(None, "b"), human("m4", "c")]
    found = heard(elements(chat(*nameless)))
    assert len({e.id for e in found}) == 4
    longer = heard(elements(chat(human("m0", "first"), *nameless)))
    assert [e.id for e in longer][1:] == [e.id for e in found]


def test_messages_of_one_uuid_are_still_two() -> None:
    found = elements(chat(human("m1", "a"), human("m1", "b")))
    assert [e.text for e in heard(found)] == ["a", "b"]
    assert len(set(ids(found))) == 2


def test_a_conversation_without_an_id_keeps_its_name_when_it_grows() -> None:
    small, grown = chat(human("m1", "a"), key=None), chat(human("m1", "a"), human("m2", "b"), key=None, name="New")
    assert ids(elements(grown))[:1] == ids(elements(small))


def test_a_second_and_longer_export_adds_only_what_is_new() -> None:
    first, later = elements(TWO[0]), elements(chat(human("m1", "one"), assistant("m2", "1", at=2), human("m9", "new")))
    assert [event.event.id for event in imported([*first, *later]).events] == ids(later)


@settings(deadline=None)
@given(broken(rich("cl-mid")))
def test_any_damage_costs_at_most_its_own_conversation(damaged: object) -> None:
    """Any member null, missing, of another type, or a copy of another place."""
    before, after = chat(human("b1", "before"), key="cl-before"), chat(human("z1", "after"), key="cl-after")
    raw = as_json([before, damaged, after])
    found = read(READER, raw)
    events = heard(found)
    assert (events[0].text, events[-1].text) == ("before", "after")
    assert (events[0].id, events[-1].id) == (heard(elements(before))[0].id, heard(elements(after))[0].id)
    assert len([element for element in found if element not in warned(found)]) > 2
    assert ids(found) == ids(read(READER, raw))
    assert len(set(ids(found))) == len(events)
    assert_conserved(found)


@given(st.binary(max_size=300))
def test_any_bytes_are_read_without_another_error(raw: bytes) -> None:
    assert recognises(READER, raw) in (True, False)
    with suppress(PermanentSourceError):
        assert_conserved(read(READER, raw))
