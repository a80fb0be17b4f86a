"""ChatGPT exports are read in every form, conversations along their live branch; what is bad costs only itself."""

import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.contract import PermanentSourceError
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
from tests.support.chatgpt import READER, START, assistant, chat, elements, node, rich, tree, user

TWO = [chat(user("u1", "one"), assistant("a1", "1"), key="c-1"), chat(user("u2", "two"), key="c-2")]
FORMS = {
    "array": as_json(TWO),
    "pretty": json.dumps(TWO, indent=1).encode(),
    "byte order mark": b"\xef\xbb\xbf " + as_json(TWO),
    "wrapped": as_json({"conversations": TWO}),
    "wrapped late": as_json({"exported": "today", "counts": {"mapping": 1}, "conversations": TWO}),
    "one behind the other": b"\n".join(map(as_json, TWO)),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_events(form: str) -> None:
    found = read(READER, FORMS[form])
    assert told(found) == [("message", "user", "one"), ("message", "assistant", "1"), ("message", "user", "two")]
    assert ids(found) == ids(read(READER, FORMS["array"]))
    assert not rejected(found)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_recognised_whatever_its_name(form: str) -> None:
    assert recognises(READER, FORMS[form], "x.dms")


def test_a_single_object_is_one_conversation() -> None:
    assert told(read(READER, as_json(TWO[1]))) == [("message", "user", "two")]
    assert recognises(READER, as_json(TWO[1]))


def test_a_first_conversation_longer_than_the_head_is_recognised() -> None:
    assert recognises(READER, as_json([chat(user("u1", "x" * 200_000))]))


def test_an_odd_first_element_does_not_hide_the_rest() -> None:
    raw = as_json([None, {"title": "no tree", "id": "c-0"}, *TWO])
    assert recognises(READER, raw)
    assert len(heard(read(READER, raw))) == 3


@pytest.mark.parametrize(
    "other",
    [
        {"id": "1", "title": "t", "inserted_at": "2026-01-01", "mapping": {"1": {"message": {"fragments": []}}}},
        {"id": "1", "title": "t", "chat": {"history": {"messages": {}}}},
        {"uuid": "1", "name": "t", "chat_messages": []},
        {"mapping": {"properties": {}}},
        {"conversation_id": "c", "title": "t", "is_anonymous": True},
    ],
)
def test_other_exports_are_not_taken(other: dict) -> None:
    assert not recognises(READER, as_json([other]))
    assert not recognises(READER, as_json(other))


def test_a_file_that_is_no_json_fails_as_a_whole() -> None:
    with pytest.raises(PermanentSourceError):
        read(READER, b"hello")


def test_thread_title_project_and_times() -> None:
    conversation = chat(user("u1", "hi"), key="c-9", title=" Ferns ", gizmo_id="g-p-1")
    (element,) = elements(conversation, account="ana")
    thread = element.thread
    assert (thread.provider, thread.thread_id, thread.account, thread.channel_id) == ("chatgpt", "c-9", "ana", "g-p-1")
    assert thread.title == " Ferns "  # the normaliser makes titles one clean line
    assert element.nearby == (START, START + 60)


def test_one_thread_object_serves_a_whole_conversation() -> None:
    first, second = elements(TWO[0])
    assert first.thread is second.thread


@pytest.mark.parametrize("title", [None, "", 5, []])
def test_a_conversation_may_have_no_title(title: object) -> None:
    (element,) = elements(chat(user("u1", "hi"), title=title))
    assert element.thread.title is None


def test_the_conversation_is_named_by_either_id() -> None:
    named = chat(user("u1", "hi"), key="c-5")
    for missing in ("id", "conversation_id"):
        (element,) = elements({name: value for name, value in named.items() if name != missing})
        assert element.thread.thread_id == "c-5"
        assert ids([element]) == ids(elements(named))


def test_a_conversation_without_an_id_keeps_its_name_when_it_grows() -> None:
    small = chat(user("u1", "hi"), assistant("a1", "yes", at=1), id=None, conversation_id=None)
    grown = chat(
        user("u1", "hi"),
        assistant("a1", "yes", at=1),
        user("u2", "more", at=2),
        title="New",
        id=None,
        conversation_id=None,
    )
    assert ids(elements(grown))[:2] == ids(elements(small))
    other = chat(user("u9", "hi"), id=None, conversation_id=None)
    assert elements(other)[0].thread.thread_id != elements(small)[0].thread.thread_id


def test_ids_depend_on_conversation_and_message_alone() -> None:
    plain = ids(elements(TWO[0]))
    moved = read(READER, as_json([TWO[1], {**TWO[0], "title": "renamed", "update_time": 5}]), "other/name.json")
    assert ids(moved)[1:] == plain
    assert ids(elements({**TWO[0], "id": "c-x", "conversation_id": "c-x"})) != plain


def test_messages_of_one_id_in_two_nodes_are_two() -> None:
    copied = tree([node("a", None, user("m", "first")), node("b", "a", user("m", "second"))], "b")
    found = elements(copied)
    assert [event.text for event in heard(found)] == ["first", "second"]
    assert len(set(ids(found))) == 2
    assert ids(found) == ids(elements(copied))


def test_a_node_may_lack_its_own_id_and_its_message_another() -> None:
    """The key of the mapping is the node; the message's own id is what is told."""
    nodes = {"n1": {"parent": None, "message": user("m1", "hi")}, "n2": {"parent": "n1", "message": user("", "yes")}}
    nodes["n2"]["message"].pop("id")
    found = heard(elements(chat(mapping=nodes, current_node="n2")))
    assert [(event.message_id, event.parent_message_id) for event in found] == [("m1", None), ("n2", "m1")]


def test_branches_follow_the_live_path() -> None:
    found = heard(elements(rich()))
    live = [event.message_id for event in found if not event.branch_id]
    assert live == ["u1", "t", "k", "r", "a1"]
    assert [(event.message_id, event.parent_message_id, event.branch_id) for event in found if event.branch_id] == [
        ("a2", "r", "a2"), ("u2", "a2", "a2"),
    ]  # fmt: skip


@pytest.mark.parametrize("leaf", [None, "gone", 7, "root"])
def test_without_a_leaf_that_leads_to_messages_the_newest_is_live(leaf: object) -> None:
    conversation = tree(
        [
            node("root", None, None), node("u1", "root", user("u1", "?")),
            node("new", "u1", assistant("new", "new", at=9)), node("old", "u1", assistant("old", "old", at=3)),
        ],
        leaf,
    )  # fmt: skip
    assert [event.message_id for event in heard(elements(conversation)) if not event.branch_id] == ["u1", "new"]


def test_children_tell_the_parents_that_nodes_do_not() -> None:
    conversation = chat(user("u1", "a"), assistant("a1", "b"), user("u2", "c"))
    for parent in (None, "gone", 5):
        conversation["mapping"]["a1"]["parent"] = parent
        found = heard(elements(conversation))
        assert [(event.message_id, event.branch_id) for event in found] == [("u1", None), ("a1", None), ("u2", None)]


def test_several_roots_without_children_are_branches() -> None:
    nodes = [node("u1", None, user("u1", "a")), node("u2", "gone", user("u2", "b"))]
    found = heard(elements(tree(nodes, "u1")))
    assert [(event.message_id, event.branch_id) for event in found] == [("u1", None), ("u2", "u2")]


def test_a_ring_is_told_and_read_once() -> None:
    nodes = [node("a", "b", user("a", "x")), node("b", "a", assistant("b", "y"))]
    found = elements(tree(nodes, "b", key="c-loop"))
    assert [event.message_id for event in heard(found)] == ["a", "b"]
    assert any("cycle in c-loop" in message for message in warned(found))


def test_a_deep_conversation_needs_no_recursion() -> None:
    found = heard(elements(chat(*[user(f"m{n}", f"word {n}", at=n) for n in range(5000)])))
    assert [event.message_id for event in found] == [f"m{n}" for n in range(5000)]
    assert found[-1].parent_message_id == "m4998"


def test_bad_conversations_are_named_and_cost_only_themselves() -> None:
    found = elements(TWO[0], {"id": "c-bad", "title": "x"}, None, 5, "x", [1], {"id": "c-list", "mapping": []}, TWO[1])
    assert len(heard(found)) == 3
    reasons = [(element.reason, "c-bad" in element.detail or "c-list" in element.detail) for element in rejected(found)]
    assert reasons == [("no-messages", True), *[("not-an-object", False)] * 4, ("no-messages", True)]
    assert all(element.where.startswith("input.json: byte ") and element.sample for element in rejected(found))


def test_a_bad_message_costs_only_itself() -> None:
    conversation = chat(user("u1", "a"), user("u2", "b"), user("u3", "c"), user("u4", "d"), key="c-7")
    conversation["mapping"]["u2"]["message"] = "words"
    conversation["mapping"]["u3"]["message"]["content"] = None
    found = elements(conversation)
    assert [(event.message_id, event.parent_message_id) for event in heard(found)] == [("u1", None), ("u4", "u1")]
    assert [(element.reason, element.where.split(", ", 1)[1]) for element in rejected(found)] == [
        ("not-a-message", "conversation c-7, message u2"),
        ("no-content", "conversation c-7, message u3"),
    ]


def test_a_conversation_without_messages_is_counted() -> None:
    found = elements(chat(), tree([], None), chat(mapping={"a": None}))
    assert [(element.outcome, element.what) for element in skipped(found)] == [
        ("empty", "conversation without messages")
    ] * 3
    assert_conserved(found)


def test_a_cut_file_gives_what_stands_before_the_cut() -> None:
    raw = as_json(TWO)
    found = read(READER, raw[:-40])
    assert [event.text for event in heard(found)] == ["one", "1"]
    assert [element.reason for element in rejected(found)] == ["file-cut"]


def test_bytes_that_are_no_utf8_cost_nothing_but_themselves() -> None:
    """Emoji as two surrogates of three bytes each are joined (CESU-8)."""
    raw = as_json([chat(user("u1", "balloon @@ up"))]).replace(b"@@", b"\xed\xa0\xbc\xed\xbe\x88\xff")
    assert [event.text for event in heard(read(READER, raw))] == ["balloon \U0001f388\ufffd up"]


def test_labels_of_a_conversation_are_on_each_event() -> None:
    found = heard(elements(chat(user("u1", "a"), assistant("a1", "b"), is_archived=True, is_do_not_remember=True)))
    assert [event.labels for event in found] == [["archived", "do-not-remember"]] * 2


def test_a_second_and_longer_export_adds_only_what_is_new() -> None:
    first = elements(chat(user("u1", "a"), assistant("a1", "b")))
    later = elements(chat(user("u1", "a"), assistant("a1", "b"), user("u2", "c"), title="renamed"))
    assert [event.event.id for event in imported([*first, *later]).events] == ids(later)


@settings(deadline=None)
@given(broken(rich("c-mid")))
def test_any_damage_costs_at_most_its_own_conversation(damaged: object) -> None:
    """Any member null, missing, of another type, or a copy of another place."""
    before, after = chat(user("b1", "before"), key="c-before"), chat(user("z1", "after"), key="c-after")
    raw = as_json([before, damaged, after])
    found = read(READER, raw)
    events = heard(found)
    assert (events[0].text, events[-1].text) == ("before", "after")
    assert (events[0].id, events[-1].id) == (heard(elements(before))[0].id, heard(elements(after))[0].id)
    assert len(found) > 2  # the damaged one is at least counted
    assert ids(found) == ids(read(READER, raw))
    assert len(set(ids(found))) == len(events)
    assert_conserved(found)
    recognises(READER, raw)


@given(st.binary(max_size=300))
def test_any_bytes_are_read_without_another_error(raw: bytes) -> None:
    assert recognises(READER, raw) in (True, False)
    with suppress(PermanentSourceError):
        assert_conserved(read(READER, raw))


@given(st.integers(0, 4000))
def test_a_cut_anywhere_is_counted(cut: int) -> None:
    raw = as_json([rich("c-1"), rich("c-2")])
    cut = min(cut, len(raw) - 1)
    if raw[:cut].strip():
        assert_conserved(read(READER, raw[:cut]))
