"""What is exported as PAM and imported again is the same events, and every file is valid by the official schemas."""

import string

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemas.captured import CapturedEvent, CapturedRecord, Thread
from schemas.event import Attachment, CanonicalEvent, Citation, Refs
from schemas.ids import event_id
from tests.support.log import quick_folder
from tests.support.pam import faults, imported, write_bundle
from tests.support.processors import captured_records, normalize_all

WORDS = st.text(max_size=12) | st.sampled_from(["see TASK-7 and #12", "bash ", "bash {}", "[image: image/png]"])
NAME = st.text(min_size=1, max_size=8)
PRINTABLE = st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=5)
ID = st.text(string.ascii_lowercase + "/.\0 ", min_size=1, max_size=4) | st.sampled_from(["m1", "m2", "m3"])
MAYBE = st.none() | NAME

CALL = st.sampled_from([
    'bash {"command":"ls"}', 'bash {"b":1, "a":2}', 'bash {"a":1.0,"b":[1,{"c":null}]}', "bash ls -l", "bash ", "bash",
    "bash [1,2]", "unnamed {}", 'bash {"n":18446744073709551617}', 'bash {"a":1}x', "ls", "", "bash {" + '"a":{' * 300,
    'bash {"\ud83d":1}'.encode("utf-8", "replace").decode(), 'bash {"a":1,"a":2}', 'bash {"a":1e400}', "bash  {}",
])  # fmt: skip

EVENT = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["message", "summary", "status", "tool_call", "tool_result", "signal"]),
        "role": st.sampled_from(["user", "assistant", "tool", "system", "agent", "operator", "bot", "stranger"]),
        "text": WORDS | CALL,
    },
    optional={
        "times": st.lists(st.sampled_from([1_772_359_200, 1_772_359_201.5, "2026-03-01T10:00:00Z", "?"]), max_size=1),
        "branch_id": MAYBE,
        "labels": st.lists(
            st.sampled_from(["reasoning", "edit", "archived", "hidden", "x y"]), max_size=3, unique=True
        ),
        "refs": st.none() | st.builds(Refs, task_ids=st.lists(NAME, max_size=2), run_ids=st.lists(NAME, max_size=2)),
        "author_id": MAYBE,
        "message_id": st.none() | ID,
        "parent_message_id": st.none() | ID,
        "raw_type": MAYBE,
        "model": st.none() | st.sampled_from(["m-1", "m-2"]),
        "tool_name": st.none() | st.sampled_from(["bash", "unnamed", "b"]),
        "tool_call_id": MAYBE,
        "attachments": st.lists(
            st.builds(
                Attachment,
                kind=st.sampled_from(["image", "file", "sticker", "document"]),
                name=st.none() | st.text(max_size=5),
                mime_type=st.none() | st.text(max_size=5),
                url=st.none() | st.text(max_size=5),
                size_bytes=st.none() | st.integers(0, 2**60),
            ),
            max_size=2,
        ),
        "citations": st.lists(
            st.builds(
                Citation,
                url=st.none()
                | st.text(max_size=8)
                | st.sampled_from(["https://example.org/a?b=c#d", "https://example.org/a b", "http://[", "a:%zz"]),
                title=st.none() | st.text(max_size=5),
                quote=st.none() | PRINTABLE,
            ),
            max_size=2,
        ),
    },
)

THREAD = st.builds(
    Thread,
    provider=st.sampled_from(["claude", "pi", "x", "Prøve", "a" * 40, "telegram", "../up"]),
    thread_id=st.sampled_from(["t1", "t2", "../../etc/passwd", "a/b", "ü" * 300, "nul\0"]),
    account=st.none() | st.sampled_from(["ana", "a/b", ".."]),
    workspace=st.none() | st.sampled_from(["/w", "/v"]),
    channel_id=st.none() | st.sampled_from(["c"]),
    title=st.none() | st.sampled_from(["One", "Two"]),
)

RECORDS = st.lists(
    st.builds(
        CapturedRecord,
        thread=THREAD,
        events=st.lists(EVENT.map(lambda members: CapturedEvent(id="", **members)), min_size=1, max_size=4),
        captured_at=st.none() | st.sampled_from(["2026-03-02T10:00:00Z", "2026-03-03T10:00:00Z"]),
    ),
    min_size=1,
    max_size=5,
)


def without_ingestion(events: list[CanonicalEvent]) -> dict[str, CanonicalEvent]:
    """By id; when an event came in is the importing log's own."""
    return {
        event.event.id: msgspec.structs.replace(event, meta=msgspec.structs.replace(event.meta, ingested_at_iso=None))
        for event in events
    }


@given(RECORDS)
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_events_come_back_from_valid_files(records: list[CapturedRecord]) -> None:
    """Ids, types, roles, texts, times, branches, models, attachments, citations, calls, references, labels, titles."""
    for number, event in enumerate(event for record in records for event in record.events):
        event.id = event_id("test", number)
    events = normalize_all(captured_records(records))
    with quick_folder() as folder:
        documents = write_bundle(folder, events)
        store = documents.pop("memory-store.json")
        assert faults("memory-store", store) == []
        for document in documents.values():
            assert faults("conversation", document) == []
            assert_linked(document)
        assert without_ingestion(imported(folder / "bundle")) == without_ingestion(events)
        assert_indexed(store, documents)


def assert_linked(document: dict) -> None:
    """Ids are unique, links go both ways and upwards end: what the specification's own validator asks."""
    messages = {message["id"]: message for message in document["messages"]}
    assert len(messages) == len(document["messages"])
    earlier: set[str] = set()
    for message in document["messages"]:
        parent = message.get("parent_id")
        assert parent is None or parent in earlier
        assert all(messages[child]["parent_id"] == message["id"] for child in message.get("children_ids", []))
        if parent is not None:
            assert message["id"] in messages[parent]["children_ids"]
        earlier.add(message["id"])
    times = [message["created_at"] for message in document["messages"]]
    assert times == sorted(times)


def assert_indexed(store: dict, documents: dict[str, dict]) -> None:
    """Each conversation is in the index as its file says it."""
    index = {entry["storage"]["ref"]: entry for entry in store["conversations_index"]}
    assert index.keys() == documents.keys()
    for ref, document in documents.items():
        entry = index[ref]
        assert (entry["id"], entry["platform"]) == (document["id"], document["provider"]["name"])
        assert (entry.get("title"), entry["temporal"]) == (document.get("title"), document["temporal"])
        assert entry["message_count"] == len(document["messages"])
