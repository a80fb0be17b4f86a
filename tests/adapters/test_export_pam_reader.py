"""PAM conversations of other programs are read: every rule of the page's list for PAM as input."""

import json
from pathlib import Path

import pytest

from adapters.contract import FileHead, ReadOptions, Rejected, Skipped, Warned
from adapters.exports.pam import PamReader
from adapters.exports.pam_stores import PamStoreReader
from tests.support.pam import conversation, heard, message, read


def texts(document, options: ReadOptions | None = None) -> list[str]:
    return [element.event.text for element in heard(document, options)]


def types(document, options: ReadOptions | None = None) -> list[tuple[str, str]]:
    return [(element.event.type, element.event.role) for element in heard(document, options)]


def head(document) -> FileHead:
    raw = document if isinstance(document, bytes) else json.dumps(document).encode()
    return FileHead(Path("x"), raw[: 64 * 1024], len(raw))


def test_a_conversation_is_read() -> None:
    document = conversation(message(1), message(2, model="m-2"), model="m-1")
    first, second = heard(document)
    assert (first.thread.provider, first.thread.thread_id, first.thread.title) == ("chatgpt", "conv-1", "A title")
    assert first.thread is second.thread
    assert (first.event.text, first.event.role, first.event.times) == ("words 1", "user", ["2026-03-01T10:01:00Z"])
    assert (first.event.message_id, first.event.model) == ("m1", None)
    assert (second.event.model, second.event.parent_message_id) == ("m-2", "m1")


def test_the_conversations_model_is_that_of_answers_without_one() -> None:
    first, second = heard(conversation(message(1), message(2), model="m-1"))
    assert (first.event.model, second.event.model) == (None, "m-1")


@pytest.mark.parametrize(
    "form",
    [
        lambda one: json.dumps(one).encode(),
        lambda one: b"\xef\xbb\xbf" + json.dumps(one, indent=2).encode(),
        lambda one: json.dumps([one]).encode(),
        lambda one: json.dumps(one, sort_keys=True).encode(),
        lambda one: json.dumps(dict(reversed(one.items()))).encode(),
    ],
)
def test_any_spelling_of_the_document_gives_the_same_events(form) -> None:
    document = conversation(message(1), message(2))
    assert [e.event for e in heard(form(document))] == [e.event for e in heard(document)]


def test_several_conversations_in_a_file() -> None:
    """In an array, or one behind the other as JSON Lines."""
    one, two = conversation(message(1)), conversation(message(2), provider={"name": "claude", "conversation_id": "k"})
    for raw in (json.dumps([one, two]), json.dumps(one) + "\n" + json.dumps(two) + "\n"):
        assert [(e.thread.provider, e.event.text) for e in heard(raw.encode())] == [
            ("chatgpt", "words 1"), ("claude", "words 2"),
        ]  # fmt: skip


def test_recognised_by_the_constant() -> None:
    reader, stores = PamReader(), PamStoreReader()
    assert reader.recognises(head(conversation(message(1))))
    assert reader.recognises(head([conversation(message(1))]))
    assert not stores.recognises(head(conversation(message(1))))
    for name in ("portable-ai-memory", "portable-ai-memory-embeddings", "portable-ai-memory-graph"):
        assert stores.recognises(head({"schema": name}))
        assert not reader.recognises(head({"schema": name}))
    for other in ({"schema": "portable"}, {"a": {"schema": "portable-ai-memory"}}, {}, [], [1], "x", {"schema": 1}):
        assert not reader.recognises(head(other))
        assert not stores.recognises(head(other))


def test_recognised_with_sorted_keys_although_the_constant_is_beyond_the_head() -> None:
    """`messages` sorts before `schema`, and may be longer than what a reader may look at."""
    document = conversation(
        *(message(n, parent_id=None, content={"type": "text", "text": "x" * 1000}) for n in range(99))
    )
    raw = json.dumps(document, sort_keys=True).encode()
    assert PamReader().recognises(head(raw))
    store = {"conversations_index": [{"id": "c" * 99}] * 1000, "schema": "portable-ai-memory"}
    assert PamStoreReader().recognises(head(json.dumps(store, sort_keys=True).encode()))
    other = {"id": "x", "messages": [{"id": "1", "role": "user", "content": "x" * 70_000}], "name": "LM Studio"}
    assert not PamReader().recognises(head(other))


def test_unknown_versions_and_constants_are_refused_by_name() -> None:
    """A later minor version is read."""
    for members, reason in (
        ({"schema_version": "2.0"}, "unknown-version"),
        ({"schema": "portable-ai-memory-other"}, "unknown-schema"),
        ({"messages": {"a": 1}}, "no-messages"),
    ):
        (rejected,) = read([conversation(message(1), **members)])
        assert isinstance(rejected, Rejected)
        assert rejected.reason == reason
    assert texts(conversation(message(1), schema_version="1.7", new=1)) == ["words 1"]


def test_a_bad_conversation_costs_itself_alone() -> None:
    elements = read([conversation(message(1)), 7, {"schema": 1}, conversation(message(2))])
    assert [type(element).__name__ for element in elements] == ["Heard", "Rejected", "Rejected", "Heard"]


def test_a_bad_message_costs_itself_alone() -> None:
    raw = json.dumps(conversation(message(1), "BAD", message(2))).replace('"BAD"', '{"id": nope}').encode()
    (rejected,) = (element for element in read(raw) if isinstance(element, Rejected))
    assert (rejected.reason, rejected.sample) == ("invalid-json", b'{"id": nope}')
    assert "conversation conv-1" in rejected.where
    assert texts(raw) == ["words 1", "words 2"]


def test_a_file_that_was_cut_gives_what_stands_before_the_cut() -> None:
    raw = json.dumps(conversation(message(1), message(2), message(3))).encode()
    elements = read(raw[: raw.index(b'"m3"')])
    assert [e.event.text for e in elements if hasattr(e, "event")] == ["words 1", "words 2"]
    assert [e.reason for e in elements if isinstance(e, Rejected)] == ["file-cut"]


def test_equal_ids_in_one_conversation_are_two_messages() -> None:
    """6.2: both are kept and told apart, with a warning."""
    document = conversation(message(1), message(1, content={"type": "text", "text": "another"}))
    events = heard(document)
    assert {e.event.text for e in events} == {"words 1", "another"}
    assert len({e.event.id for e in events}) == 2
    assert any(isinstance(e, Warned) and "an earlier one has" in e.message for e in read(document))


def test_a_parent_that_is_not_there_makes_a_root_and_is_remembered() -> None:
    document = conversation(message(1, parent_id="gone"), message(2, parent_id="m1"))
    first, second = heard(document)
    assert (first.event.parent_message_id, second.event.parent_message_id) == ("gone", "m1")
    assert any(isinstance(e, Warned) and "parent is not there" in e.message for e in read(document))


def test_links_of_either_direction_count_and_the_parent_wins() -> None:
    """6.3: listed children without a parent hang on the lister; one that names another parent hangs there."""
    document = conversation(
        message(1, children_ids=["m2", "m4", "gone"]),
        message(2),
        message(3, parent_id="m2"),
        message(4, parent_id="m3"),
    )
    assert [e.event.parent_message_id for e in heard(document)] == [None, "m1", "m2", "m3"]
    assert any(isinstance(e, Warned) and "listed children" in e.message for e in read(document))


@pytest.mark.parametrize("parents", [["m1"], ["m2", "m1"], ["m3", "m1", "m2"]])
def test_rings_break_at_the_earliest_message(parents: list[str]) -> None:
    messages = [message(n, parent_id=parent) for n, parent in enumerate(parents, 1)]
    document = conversation(*messages)
    assert [e.event.message_id for e in heard(document)] == [f"m{n}" for n in range(1, len(parents) + 1)]
    assert heard(document)[0].event.parent_message_id is None
    assert any(isinstance(e, Warned) and "rings" in e.message for e in read(document))


def test_the_newest_leaf_is_live_and_other_branches_are_named() -> None:
    """PAM does not say which branch is the live one."""
    document = conversation(
        message(1), message(2, parent_id="m1"), message(3, parent_id="m1"), message(4, parent_id="m3")
    )
    branches = {e.event.message_id: e.event.branch_id for e in heard(document)}
    assert branches == {"m1": None, "m3": None, "m4": None, "m2": "m2"}


def test_without_links_the_order_of_the_file_counts() -> None:
    events = heard(conversation(message(3), message(1), message(2)))
    assert [e.event.message_id for e in events] == ["m3", "m1", "m2"]
    assert all(e.event.branch_id is None for e in events)


def test_text_and_parts_are_both_taken() -> None:
    """6.4: the text first; code is fenced; pictures are attachments."""
    parts = [
        {"type": "text", "text": "b"},
        {"type": "code", "text": "x = 1", "language": "python"},
        {"type": "image", "mime_type": "image/png", "ref": "attachments/p.png"},
    ]
    (only,) = heard(conversation(message(1, content={"type": "multipart", "text": "a", "parts": parts})))
    assert only.event.text == "a\n\nb\n\n```python\nx = 1\n```"
    assert [(a.kind, a.mime_type, a.url) for a in only.event.attachments] == [
        ("image", "image/png", "attachments/p.png")
    ]


def test_messages_without_words() -> None:
    """Nothing at all is empty; attachments alone have a placeholder."""
    document = conversation(
        message(1, content=None), message(2, content={}), message(3, content={"type": "text"}, attachments=[
            {"type": "image", "mime_type": "image/png", "size_bytes": 7, "name": "p.png"}
        ]),
    )  # fmt: skip
    elements = read(document)
    assert [e.outcome for e in elements if isinstance(e, Skipped)] == ["empty", "empty"]
    (only,) = heard(document)
    assert only.event.text == "[image: image/png]"
    assert only.event.attachments[0].size_bytes == 7


def test_a_conversation_without_messages_is_counted() -> None:
    assert read(conversation()) == [Skipped("empty", "conversation without messages")]


@pytest.mark.parametrize(
    ("raw", "time", "labels"),
    [
        ("2026-03-01T10:00:00+02:00", "2026-03-01T10:00:00+02:00", []),
        ("2026-03-01T10:00:00", "2026-03-01T10:00:00+00:00", ["time-zone-assumed"]),
        ("2026-03-01", "2026-03-01T00:00:00+00:00", ["time-zone-assumed"]),
        (1772359200, 1772359200, []),
    ],
)
def test_times(raw, time, labels: list[str]) -> None:
    """6.5: naive means UTC and is flagged; a date alone is midnight."""
    (only,) = heard(conversation(message(1, created_at=raw)))
    assert (only.event.times, only.event.labels) == ([time], labels)


@pytest.mark.parametrize("raw", [None, True, {}, "", 10**400])
def test_a_time_that_is_none_is_inferred_not_invented(raw) -> None:
    (only,) = heard(conversation(message(1, created_at=raw)))
    assert only.event.times == []
    assert only.nearby == ("2026-03-01T10:00:00Z",)


def test_a_zone_can_be_named() -> None:
    (only,) = heard(conversation(message(1, created_at="2026-03-01T10:00:00")), ReadOptions(timezone="Europe/Berlin"))
    assert (only.event.times, only.event.labels) == (["2026-03-01T10:00:00+01:00"], [])


def test_reasoning_calls_and_results() -> None:
    """6.6: calls of an assistant, results of a tool's message or of the call itself."""
    call = {"id": "k1", "name": "search", "input": {"q": "x", "a": 1}}
    document = conversation(
        message(1),
        message(2, content={"type": "text", "text": "hm"}, is_thought=True),
        message(4, tool_calls=[call, {"name": "now", "output": "12:00"}]),
        message(5, role="tool", content=None, tool_calls=[{"id": "k1", "name": "search", "output": "found"}]),
        message(6, role="tool", content={"type": "text", "text": "printed"}),
    )
    events = [e.event for e in heard(document)]
    assert [(e.type, e.role, e.text) for e in events] == [
        ("message", "user", "words 1"),
        ("status", "assistant", "hm"),
        ("message", "assistant", "words 4"),
        ("tool_call", "assistant", 'search {"a":1,"q":"x"}'),
        ("tool_call", "assistant", "now"),
        ("tool_result", "tool", "12:00"),
        ("tool_result", "tool", "found"),
        ("tool_result", "tool", "printed"),
    ]
    assert events[1].labels == ["reasoning"]
    assert [(e.tool_name, e.tool_call_id) for e in events[3:7]] == [
        ("search", "k1"), ("now", None), ("now", None), ("search", "k1"),
    ]  # fmt: skip
    assert len({e.id for e in events}) == len(events)


def test_words_that_a_call_repeats_are_said_once() -> None:
    """As the reference SDK writes ChatGPT's calls and results: in the content and in the call."""
    document = conversation(
        message(2, content={"type": "text", "text": "ls"}, tool_calls=[{"id": "m2", "name": "bash", "input": "ls"}]),
        message(
            3, role="tool", content={"type": "text", "text": "a.txt"}, tool_calls=[{"name": "bash", "output": "a.txt"}]
        ),
    )
    assert texts(document) == ["bash ls", "a.txt"]


def test_system_words_are_hidden_and_counted() -> None:
    document = conversation(message(1, role="system"), message(2), system_instruction="Be kind.")
    assert [e.outcome for e in read(document) if isinstance(e, Skipped)] == ["hidden", "hidden"]
    assert texts(document) == ["words 2"]
    shown = heard(document, ReadOptions(include_hidden=True))
    assert [(e.event.type, e.event.role, e.event.labels) for e in shown[:2]] == [("status", "system", ["hidden"])] * 2


def test_citations_and_the_archive_label() -> None:
    cited = [{"url": "https://example.org/a", "title": "A", "snippet": "s"}, {}, {"title": "B"}]
    (only,) = heard(conversation(message(2, citations=cited), is_archived=True))
    assert [(c.url, c.title, c.quote) for c in only.event.citations] == [
        ("https://example.org/a", "A", "s"), (None, "B", None),
    ]  # fmt: skip
    assert only.event.labels == ["archived"]


def test_ids_do_not_depend_on_place_or_account_option() -> None:
    """The same conversation in another file, grown, and under another account of the command gives the same ids."""
    short, grown = conversation(message(1)), conversation(message(1), message(2))
    assert heard(short)[0].event.id == heard([7, grown], ReadOptions(account="ana"))[0].event.id


def test_the_files_account_wins() -> None:
    own = {"name": "claude", "conversation_id": "k", "account_id": "acc-1"}
    assert heard(conversation(message(1), provider=own), ReadOptions(account="ana"))[0].thread.account == "acc-1"
    assert heard(conversation(message(1)), ReadOptions(account="ana"))[0].thread.account == "ana"
