"""A bundle says what PAM can say in PAM's own words, names its files safely, and is equal each time."""

import json
from pathlib import Path

import pytest
from portable_ai_memory import compute_content_hash, load, validate
from portable_ai_memory.core.integrity import compute_integrity_checksum

from adapters.contract import FileHead, ReadOptions, Warned
from adapters.exports.pam_own import MARK
from adapters.exports.pam_stores import PamStoreReader
from ingest.export_message import MessageWriter, Thread
from ingest.export_pam import conversation_id
from ingest.export_threads import ThreadPlace
from schemas.event import Attachment, CanonicalEvent, Citation
from schemas.pam_integrity import checksum, content_hash
from schemas.pam_store import Access, Memory, Provenance, Relation, Validity
from tests.support.pam import faults, imported, read_bundle, write_bundle
from tests.support.processors import event

UUID_FILE = "conversations/{}.json"


def at(minute: int, text: str = "words", **members) -> CanonicalEvent:
    members.setdefault("provider", "claude")
    return event(text, times=[f"2026-03-01T10:{minute:02}:00Z"], **members)


def only(documents: dict) -> dict:
    """The one conversation of a bundle."""
    (name,) = documents.keys() - {"memory-store.json"}
    return documents[name]


def test_a_message_says_in_pams_own_members_what_they_can_hold(tmp_path: Path) -> None:
    """Nothing is left for `raw_metadata` of a usual conversation."""
    usual = [
        at(1, "Hello", message_id="m1", attachments=[Attachment(kind="image", name="p.png", url="p", size_bytes=7)]),
        at(2, "Hm.", role="assistant", type="status", labels=["reasoning"], message_id="m2", parent_message_id="m1"),
        at(2, "Hi", role="assistant", message_id="m2", parent_message_id="m1", model="m-1",
           citations=[Citation(url="https://example.org", title="E", quote="q")]),
        at(3, 'bash {"command":"ls"}', role="assistant", type="tool_call", tool_name="bash", tool_call_id="k",
           message_id="m3", parent_message_id="m2"),
        at(4, "a.txt", role="tool", type="tool_result", tool_name="bash", tool_call_id="k", message_id="m4",
           parent_message_id="m3"),
    ]  # fmt: skip
    document = only(write_bundle(tmp_path, usual))
    user, thought, answer, call, result = document["messages"]
    assert not any("raw_metadata" in message for message in document["messages"])
    assert user["attachments"] == [{"type": "image", "name": "p.png", "ref": "p", "size_bytes": 7}]
    assert (thought["is_thought"], thought["content"]["text"]) == (True, "Hm.")
    assert (answer["model"], document["model"]) == ("m-1", "m-1")
    assert answer["citations"] == [{"url": "https://example.org", "title": "E", "snippet": "q"}]
    assert call["tool_calls"] == [{"name": "bash", "id": "k", "input": {"command": "ls"}}]
    assert result["tool_calls"] == [{"name": "bash", "id": "k", "output": "a.txt"}]
    assert [message["role"] for message in document["messages"]] == ["user", *["assistant"] * 3, "tool"]


def test_what_pam_cannot_say_stands_in_raw_metadata(tmp_path: Path) -> None:
    said = at(1, role="operator", labels=["edit"], branch_id="b", author_id="u7", raw_type="note", type="summary")
    (message,) = only(write_bundle(tmp_path, [said]))["messages"]
    assert message["raw_metadata"] == {
        MARK: {"type": "summary", "role": "operator", "branchId": "b", "labels": ["edit"], "authorId": "u7",
               "rawType": "note"}
    }  # fmt: skip


@pytest.mark.parametrize("given", ['{"b":1, "a":2}', '{"a":1,"a":2}', "ls -l", "[1,2]"])
def test_arguments_that_an_object_would_not_give_back_stay_text(tmp_path: Path, given: str) -> None:
    """Nothing is told twice: neither beside the call nor in `raw_metadata`."""
    said = at(1, f"bash {given}", role="assistant", type="tool_call", tool_name="bash")
    (message,) = only(write_bundle(tmp_path, [said]))["messages"]
    assert message["tool_calls"] == [{"name": "bash", "input": given}]
    assert not message.keys() & {"content", "raw_metadata"}


def test_branches_hang_on_their_parents(tmp_path: Path) -> None:
    """Events of one message follow each other; a reply hangs on the last of them."""
    events = [
        at(1, "question", message_id="q"),
        at(2, "thinking", type="status", role="assistant", labels=["reasoning"], message_id="a", parent_message_id="q"),
        at(2, "answer", role="assistant", message_id="a", parent_message_id="q"),
        at(3, "other answer", role="assistant", message_id="b", parent_message_id="q", branch_id="b"),
        at(4, "thanks", message_id="t", parent_message_id="a"),
    ]
    messages = {message["id"]: message for message in only(write_bundle(tmp_path, events))["messages"]}
    question, thinking, answer, other, thanks = (messages[one.event.id] for one in events)
    assert question["children_ids"] == [thinking["id"], other["id"]]
    assert (answer["parent_id"], thanks["parent_id"]) == (thinking["id"], answer["id"])
    assert {one.event.id: one.source.branch_id for one in imported(tmp_path / "bundle")} == {
        one.event.id: one.source.branch_id for one in events
    }


def test_messages_are_in_order_of_time_whatever_the_order_of_the_log(tmp_path: Path) -> None:
    events = [at(3, "c"), at(1, "a"), at(2, "b"), at(3, "d")]
    document = only(write_bundle(tmp_path, events))
    assert [message["content"]["text"] for message in document["messages"]] == ["a", "b", "c", "d"]
    assert document["temporal"] == {
        "created_at": "2026-03-01T10:01:00.000Z", "updated_at": "2026-03-01T10:03:00.000Z",
    }  # fmt: skip


def test_interleaved_threads_and_accounts_are_conversations_of_their_own(tmp_path: Path) -> None:
    """Account `a/b` with thread `c` is not account `a` with thread `b/c`."""
    places = [("a/b", "c"), ("a", "b/c"), (None, "c"), ("a/b", "c"), ("a", "b/c")]
    events = [at(n, f"text {n}", account=account, thread_id=thread) for n, (account, thread) in enumerate(places)]
    documents = write_bundle(tmp_path, events)
    counts = sorted(entry["message_count"] for entry in documents["memory-store.json"]["conversations_index"])
    assert counts == [1, 2, 2]


@pytest.mark.parametrize(
    "hostile", ["../../etc/passwd", "/etc/passwd", "a/b", "x" * 5000, "con", "..", "a\0b", "\\..\\"]
)
def test_no_name_of_an_event_becomes_a_path(tmp_path: Path, hostile: str) -> None:
    """Files are named by a UUID that is computed; the names stand inside."""
    said = at(1, provider=hostile, thread_id=hostile, account=hostile, message_id=hostile, title=hostile)
    documents = write_bundle(tmp_path / "inside", [said])
    thread = ThreadPlace(1, said.source.provider, said.source.account, hostile)
    assert documents.keys() == {"memory-store.json", UUID_FILE.format(conversation_id(thread))}
    assert {path.name for path in tmp_path.iterdir()} == {"inside"}
    assert only(documents)["provider"]["conversation_id"] == hostile
    assert faults("conversation", only(documents)) == []
    (back,) = imported(tmp_path / "inside" / "bundle")
    assert back.source == said.source


def test_the_same_events_give_the_same_bytes(tmp_path: Path) -> None:
    """Nothing tells when or where it was made; other events give another `export_id`."""
    events = [at(1, "a"), at(2, "b", thread_id="t-2")]
    write_bundle(tmp_path / "one", events)
    write_bundle(tmp_path / "two", events)
    files = [
        {path.relative_to(root): path.read_bytes() for path in root.rglob("*.json")}
        for root in (tmp_path / "one" / "bundle", tmp_path / "two" / "bundle")
    ]
    assert files[0] == files[1]
    other = write_bundle(tmp_path / "three", [*events, at(3, "c")])
    one = read_bundle(tmp_path / "one" / "bundle")
    assert other["memory-store.json"]["export_id"] != one["memory-store.json"]["export_id"]


def test_an_event_that_the_log_holds_twice_is_written_once(tmp_path: Path) -> None:
    said = at(1)
    assert len(only(write_bundle(tmp_path, [said, said]))["messages"]) == 1


def test_an_empty_log_gives_a_valid_store(tmp_path: Path) -> None:
    """Its checksum is that of no memories, by the specification's computation and by the SDK's."""
    documents = write_bundle(tmp_path, [])
    store = documents["memory-store.json"]
    assert documents.keys() == {"memory-store.json"}
    assert faults("memory-store", store) == []
    assert store["integrity"] == {
        "canonicalization": "RFC8785", "checksum": compute_integrity_checksum([]), "total_memories": 0,
    }  # fmt: skip


def test_the_reference_sdk_accepts_the_bundle(tmp_path: Path) -> None:
    write_bundle(tmp_path, [at(1, role="operator", refs=None, author_id="x"), at(2, role="assistant")])
    for path in (tmp_path / "bundle").rglob("*.json"):
        assert validate(load(path)).issues == []


def memory(identity: str, **members) -> Memory:
    content = f"Likes {identity}."
    defaults = {
        "id": identity,
        "type": "preference",
        "content": content,
        "content_hash": content_hash(content),
        "temporal": Validity(created_at="2026-01-01T00:00:00Z"),
        "provenance": Provenance(platform="claude"),
        "status": "active",
        "tags": [],
    }
    return Memory(**(defaults | members))


def test_memories_stand_in_the_store_with_their_checksum(tmp_path: Path) -> None:
    """Sorted by id; tied to their conversation; one that is not exportable stays, with its relations."""
    thread = ThreadPlace(1, "claude", None, "t-1")
    source = Provenance(platform="claude", conversation_ref=conversation_id(thread))
    memories = [
        memory("tea", provenance=source),
        memory("secret", access=Access(exportable=False)),
        memory(
            "Coffee",
            embedding_ref="e1",
            temporal=Validity(created_at="2026-01-01T00:00:00Z", superseded_by="secret"),
        ),
        memory("rain", metadata={"language": "en", "weight": 1.0}),
    ]
    relations = [
        Relation(id="r1", source="tea", target="Coffee", type="contradicts", created_at="2026-01-01T00:00:00Z"),
        Relation(id="r2", source="tea", target="secret", type="supports", created_at="2026-01-01T00:00:00Z"),
    ]
    documents = write_bundle(tmp_path, [at(1)], memories=memories, relations=relations, owner="me")
    store = documents["memory-store.json"]
    assert faults("memory-store", store) == []
    assert [item["id"] for item in store["memories"]] == ["Coffee", "rain", "tea"]
    assert [(item["id"], item["from"], item["to"]) for item in store["relations"]] == [("r1", "tea", "Coffee")]
    assert store["owner"] == {"id": "me"}
    assert store["memories"][0]["temporal"] == {"created_at": "2026-01-01T00:00:00Z"}
    assert "embedding_ref" not in store["memories"][0]
    assert store["conversations_index"][0]["derived_memories"] == ["tea"]
    assert (
        store["integrity"]["checksum"] == checksum(store["memories"]) == compute_integrity_checksum(store["memories"])
    )
    assert [item["content_hash"] for item in store["memories"]] == [
        compute_content_hash(item["content"]) for item in store["memories"]
    ]
    assert validate(load(tmp_path / "bundle" / "memory-store.json")).issues == []


def said_of(path: Path) -> str:
    raw = path.read_bytes()
    assert PamStoreReader().recognises(FileHead(path, raw[: 64 * 1024], len(raw)))
    with path.open("rb") as stream:
        (warned,) = PamStoreReader().read(stream, path, ReadOptions())
    assert isinstance(warned, Warned)
    return warned.message


def test_a_store_is_said_to_hold_no_conversations_and_is_checked(tmp_path: Path) -> None:
    """A checksum that does not fit warns; nothing is lost by it."""
    write_bundle(tmp_path, [at(1)], memories=[memory("tea")])
    path = tmp_path / "bundle" / "memory-store.json"
    assert said_of(path) == (
        "a PAM memory store, no conversations; 1 memories; import the 1 conversations it lists, in the folder "
        "conversations beside it"
    )
    path.write_bytes(path.read_bytes().replace(b"Likes", b"Hates"))
    assert "checksum does not fit" in said_of(path)
    (tmp_path / "e.json").write_text(json.dumps({"schema": "portable-ai-memory-embeddings", "embeddings": []}))
    assert said_of(tmp_path / "e.json") == "a PAM file of embeddings: they hold no conversations"


def test_an_edited_export_is_read_for_what_it_says() -> None:
    """What another program changed in PAM's members counts unless the difference tells otherwise."""
    written = json.loads(MessageWriter(Thread(), archived=False).write(at(1, "before"), None, []))
    assert written["content"] == {"type": "text", "text": "before"}
    assert "text" not in json.dumps(written.get("raw_metadata", {}))
