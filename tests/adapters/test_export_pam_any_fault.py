"""Whatever is wrong with a member costs at most its message or its conversation, is counted, and harms no other."""

import json
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.contract import FileHead, Heard, Rejected, Skipped, Warned
from adapters.exports.pam import PamReader
from adapters.exports.pam_own import MARK
from adapters.exports.pam_stores import PamStoreReader
from tests.support.pam import conversation, message, read

ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)

CALL = {"id": "k", "name": "bash", "input": {"command": "ls"}, "output": "a"}
FULL = message(
    2,
    provider_message_id="p2",
    parent_id="m1",
    children_ids=["m3"],
    model="m",
    is_thought=False,
    attachments=[{"type": "image"}],
    citations=[{"title": "t"}],
    tool_calls=[CALL],
    raw_metadata={MARK: {"labels": ["x"]}},
)
BEFORE, AFTER = conversation(message(1)), conversation(message(7), id="c-3", provider={"name": "claude"})


def outcome(elements: list) -> list[tuple]:
    return [(e.thread.thread_id, e.event.id, e.event.text) for e in elements if isinstance(e, Heard)]


@given(st.sampled_from([*FULL]), ANY, st.booleans())
@settings(max_examples=150, deadline=None)
def test_a_member_of_a_message(name: str, value: object, ours: bool) -> None:
    """Its neighbours give what they gave, and the message itself at least one element."""
    marks = {"raw_metadata": {MARK: {"events": "1.0"}}} if ours else {}
    raw = json.dumps(conversation(message(1), {**FULL, name: value}, message(3, parent_id="m1"), **marks)).encode()
    elements = read(raw)
    found = {e.event.message_id or e.event.id: e.event.text for e in elements if isinstance(e, Heard)}
    if not ours:
        assert found["m1"] == "words 1"
        assert found["m3"] == "words 3"
    assert sum(not isinstance(e, Warned) for e in elements) >= 3
    assert outcome(read(raw)) == outcome(elements)


@given(st.sampled_from([*FULL, *BEFORE]), ANY)
@settings(max_examples=150, deadline=None)
def test_a_member_of_a_conversation(name: str, value: object) -> None:
    raw = json.dumps([BEFORE, conversation(message(1), id="c-2") | {name: value}, AFTER]).encode()
    elements = read(raw)
    assert outcome(elements)[0] == outcome(read(BEFORE))[0]
    assert outcome(elements)[-1] == outcome(read(AFTER))[0]
    assert sum(not isinstance(e, Warned) for e in elements) >= 3


@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.none() | st.integers(0, 12), st.lists(st.integers(0, 12), max_size=3)),
        max_size=10,
    )
)
@settings(max_examples=200, deadline=None)
def test_any_links_end_and_lose_no_message(links: list) -> None:
    """Rings, equal ids, dangling and contradicting links: each message is emitted once."""
    messages = [
        message(place, id=f"m{own}", parent_id=None if parent is None else f"m{parent}",
                children_ids=[f"m{child}" for child in children],
                content={"type": "text", "text": f"text {place}"})
        for place, (own, parent, children) in enumerate(links)
    ]  # fmt: skip
    found = [e.event for e in read(conversation(*messages)) if isinstance(e, Heard)]
    assert sorted(event.text for event in found) == sorted(f"text {place}" for place in range(len(links)))
    assert len({event.id for event in found}) == len(found)


@given(st.binary(max_size=200), st.integers(0, 2000))
@settings(max_examples=200, deadline=None)
def test_any_bytes_at_any_place(junk: bytes, place: int) -> None:
    """Reading ends, raises nothing, and recognising never does."""
    raw = json.dumps([BEFORE, conversation(message(1), FULL), AFTER]).encode()
    broken = raw[:place] + junk + raw[place + len(junk) :]
    head = FileHead(Path("x"), broken, len(broken))
    assert PamReader().recognises(head) in {True, False}
    assert PamStoreReader().recognises(head) in {True, False}
    assert all(isinstance(element, Heard | Rejected | Skipped | Warned) for element in read(broken))


def test_a_very_long_chain_is_read() -> None:
    """No recursion by message."""
    messages = [message(n, id=f"m{n}", parent_id=f"m{n - 1}" if n else None) for n in range(20_000)]
    assert len(outcome(read(conversation(*messages)))) == 20_000
