"""Files of canonical events are read in every form the origin took; what is no event is counted and named."""

import io
import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.contract import FileHead, Heard, ReadOptions, Rejected, Skipped
from adapters.exports.canonical import CanonicalReader
from adapters.exports.canonical_event import CanonicalEvents
from schemas.event import Attachment, CanonicalEvent, Event, EventMeta, Refs, Source, encode
from schemas.keys import provider_account_key

READER = CanonicalReader()


def event(number: int = 1, **members) -> dict:
    return {
        "schemaVersion": "1.0",
        "source": {"provider": "telegram", "providerAccountKey": "telegram/ana", "account": "ana", "threadId": "t1"},
        "event": {
            "id": f"evt-{number}",
            "type": "message",
            "timestampIso": "2026-04-15T10:00:00.000Z",
            "role": "user",
            "text": f"words {number}",
            **members,
        },
        "meta": {"messageId": f"m{number}"},
    }


def read(raw: bytes, options: ReadOptions | None = None) -> list:
    return list(READER.read(io.BytesIO(raw), Path("events.jsonl"), options or ReadOptions()))


def ids(elements: list) -> list[str]:
    return [element.event.id for element in elements if isinstance(element, Heard)]


LINES = [json.dumps(event(n)).encode() for n in (1, 2, 3)]

FORMS = {
    "jsonl": b"\n".join(LINES) + b"\n",
    "jsonl without last newline": b"\n".join(LINES),
    "byte order mark": b"\xef\xbb\xbf" + b"\n".join(LINES),
    "crlf": b"\r\n".join(LINES) + b"\r\n",
    "cr only": b"\r".join(LINES) + b"\r",
    "blank lines": b"\n\n" + b"\n \n".join(LINES),
    "array": b"[" + b",".join(LINES) + b"]",
    "byte order mark and array": b"\xef\xbb\xbf [" + b",".join(LINES) + b"]",
    "pretty array": json.dumps([event(n) for n in (1, 2, 3)], indent=2).encode(),
    "events object": json.dumps({"events": [event(n) for n in (1, 2, 3)]}).encode(),
    "pretty events object": json.dumps({"events": [event(n) for n in (1, 2, 3)]}, indent=2).encode(),
    "events not first": json.dumps({"version": 1, "events": [event(n) for n in (1, 2, 3)]}, indent=1).encode(),
    "events not first, one line": json.dumps({"version": 1, "events": [event(n) for n in (1, 2, 3)]}).encode(),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_events(form: str) -> None:
    elements = read(FORMS[form])
    assert ids(elements) == ["evt-1", "evt-2", "evt-3"]
    assert len(elements) == 3


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_recognised(form: str) -> None:
    raw = FORMS[form]
    assert READER.recognises(FileHead(Path("x"), raw, len(raw)))


@pytest.mark.parametrize(
    "raw", [b"", b"hello", b"{", b"[", b"[]", b'{"type":"session","version":3,"id":"s"}', b"\x00\xff", b"[" * 100_000]
)
def test_other_files_are_not_taken(raw: bytes) -> None:
    assert not READER.recognises(FileHead(Path("x"), raw, len(raw)))


def test_single_event_pretty_printed() -> None:
    assert ids(read(json.dumps(event(1), indent=2).encode())) == ["evt-1"]


def test_bad_lines_are_named_with_their_place() -> None:
    """The origin hides them; here each is one rejection, and its neighbours are read (E44)."""
    raw = LINES[0] + b"\n{broken\n1\n" + b"[" * 100_000 + b'\n{"a":1}\n' + LINES[1]
    elements = read(raw)
    assert ids(elements) == ["evt-1", "evt-2"]
    rejected = [element for element in elements if isinstance(element, Rejected)]
    assert [r.reason for r in rejected] == ["invalid-json", "not-an-object", "too-deep", "not-an-event"]
    assert rejected[0].where == f"events.jsonl: byte {len(LINES[0]) + 1}"
    assert rejected[0].sample == b"{broken"


def test_bad_elements_of_an_array_are_named_with_their_place() -> None:
    raw = b"[" + LINES[0] + b',{"event":nope},' + LINES[1]
    elements = read(raw)
    assert ids(elements) == ["evt-1", "evt-2"]
    assert [e.reason for e in elements if isinstance(e, Rejected)] == ["invalid-json", "file-cut"]


def test_flat_events_are_read() -> None:
    """Flat members, other names for time and role, content as blocks (1.3)."""
    flat = {"created_at": 1776247200000, "author_role": "Human", "content": ["a", {"text": "b"}, {"content": "c"}, 7]}
    (heard,) = read(json.dumps(flat).encode())
    assert (heard.event.text, heard.event.role, heard.event.times) == ("a\nb\nc", "Human", [1776247200000])
    assert (heard.thread.provider, heard.thread.thread_id) == ("custom", "unthreaded")


def test_an_event_without_id_gets_the_same_one_each_time() -> None:
    flat = json.dumps({"text": "x", "timestamp": "2026-01-01"}).encode()
    assert ids(read(flat)) == ids(read(b"[" + flat + b"]"))
    assert ids(read(flat)) != ids(read(json.dumps({"text": "y", "timestamp": "2026-01-01"}).encode()))


def test_members_are_carried_over() -> None:
    raw = event(1, labels=["edit", 3], refs={"taskIds": ["TASK-1"], "issueIds": None})
    raw["source"] |= {"workspace": "/w", "branchId": "b", "channelId": 42}
    raw["meta"] |= {
        "model": "m-1",
        "parentMessageId": "m0",
        "attachments": [{"kind": "image", "mimeType": "image/png", "sizeBytes": 7}, "x"],
        "citations": [{"url": "https://example.org"}],
    }
    (heard,) = read(json.dumps(raw).encode())
    assert (heard.thread.account, heard.thread.workspace, heard.thread.channel_id) == ("ana", "/w", "42")
    assert (heard.event.branch_id, heard.event.labels, heard.event.refs.task_ids) == ("b", ["edit"], ["TASK-1"])
    assert heard.event.attachments[0].size_bytes == 7
    assert heard.event.citations[0].url == "https://example.org"


def test_events_of_a_thread_share_one_thread_object() -> None:
    """Capture packs by it."""
    first, second = read(b"\n".join(LINES[:2]))
    assert first.thread is second.thread


def test_a_message_without_words_is_empty_a_tool_result_is_kept() -> None:
    elements = read(json.dumps([event(1, text=" "), event(2, type="tool_result", text="")]).encode())
    assert isinstance(elements[0], Skipped)
    assert ids(elements) == ["evt-2"]


def test_account_of_the_options_stands_where_the_file_has_none() -> None:
    raw = event(1)
    raw["source"] = {"provider": "telegram", "threadId": "t"}
    (heard,) = read(json.dumps(raw).encode(), ReadOptions(account="bob"))
    assert heard.thread.account == "bob"


def test_a_key_without_provider_is_rejected() -> None:
    raw = event(1)
    raw["source"] = {"providerAccountKey": "/ana", "threadId": "t"}
    (rejected,) = read(json.dumps(raw).encode())
    assert rejected.reason == "invalid-key"


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@given(st.sampled_from(["source", "event", "meta"]), st.data())
def test_any_member_of_any_type_costs_at_most_its_event(part: str, data) -> None:
    """The events before and after are unharmed, and every element is accounted for."""
    broken = event(2)
    member = data.draw(st.sampled_from([*broken[part], "refs", "labels", "attachments", "citations", "account", None]))
    if member is None:
        broken[part] = data.draw(ANY)
    else:
        broken[part][member] = data.draw(ANY)
    raw = b"\n".join([LINES[0], json.dumps(broken).encode(), LINES[2]])
    elements = read(raw)
    assert len(elements) == 3
    assert {"evt-1", "evt-3"} <= set(ids(elements))


@given(st.binary(max_size=300))
def test_any_bytes_are_read_without_an_error(raw: bytes) -> None:
    READER.recognises(FileHead(Path("x"), raw, len(raw)))
    assert all(isinstance(element, (Heard, Rejected, Skipped)) for element in read(raw))


MAYBE = st.none() | st.text(min_size=1, max_size=5)


@given(
    st.sampled_from(["pi", " Telegram ", "X/Y"]),
    st.lists(MAYBE, min_size=10, max_size=10),
    st.text(max_size=5),
    st.sampled_from(["message", "tool_result", "summary", "signal"]),
    st.lists(st.text(min_size=1, max_size=3), max_size=2),
)
def test_the_fast_road_agrees_with_the_forgiving_one(provider, words, text, kind, names) -> None:
    """What keeps to the schema is read alike by both, down to the thread."""
    account, workspace, channel, branch, author, message, parent, model, tool, title = words
    strict = CanonicalEvent(
        schema_version="1.0",
        source=Source(
            provider=provider,
            provider_account_key=provider_account_key(provider, account),
            thread_id="t",
            account=account,
            workspace=workspace,
            channel_id=channel,
            branch_id=branch,
        ),
        event=Event(
            id="e", type=kind, timestamp_iso="2026-01-01T00:00:00.000Z", role="user", text=text, labels=names,
            refs=Refs(task_ids=names),
        ),
        meta=EventMeta(
            author_id=author, message_id=message, parent_message_id=parent, model=model, tool_name=tool,
            conversation_title=title, attachments=[Attachment(kind=name) for name in names],
        ),
    )  # fmt: skip
    fast = CanonicalEvents("own").typed(strict)
    forgiving = CanonicalEvents("own").element(json.loads(encode(strict)), "x")
    if blank_words(words, names):
        return  # white space alone is no name to the forgiving road
    assert type(fast) is type(forgiving)
    if isinstance(fast, Heard):
        assert fast.event == forgiving.event
        assert msgspec.structs.astuple(fast.thread) == msgspec.structs.astuple(forgiving.thread)


def blank_words(words, names) -> bool:
    """Whether one of the names is nothing but white space."""
    return any(word is not None and not word.strip() for word in [*words, *names])
