"""What lies beside Claude's conversations is known for what it is, says what to import instead, and is no failure."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.contract import Warned
from adapters.exports.claude_manifest import ClaudeManifestReader
from adapters.exports.claude_sidecars import index, memories, projects, users
from tests.support.ai_exports import ANY, as_json, read, recognises, warned
from tests.support.claude import READER, chat, human

PROJECT = {"uuid": "p", "name": "Garden", "description": "", "is_private": True, "prompt_template": "", "docs": []}
FILES = [
    {"file_name": "conversations-000.zip", "category": "conversations", "export_url": "https://x.example.test/1"},
    {"file_name": "projects-000.zip", "category": "projects", "export_url": "https://x.example.test/2"},
]
MANIFEST = {"export_id": "e", "created_at": "2026-08-20T00:00:00Z", "data_files": FILES}
SIDECARS = {
    "projects": (projects(), [PROJECT]),
    "a project": (projects(), PROJECT),
    "memories": (memories(), [{"conversations_memory": "x", "project_memories": {"p": "y"}, "account_uuid": "a"}]),
    "users": (
        users(),
        [{"uuid": "u", "full_name": "A", "email_address": "a@example.test", "verified_phone_number": None}],
    ),
    "index": (index(), [{"uuid": "c", "name": "t", "summary": "", "created_at": "2026", "updated_at": "2026"}]),
    "manifest": (ClaudeManifestReader(), MANIFEST),
}


@pytest.mark.parametrize("kind", SIDECARS)
def test_files_beside_are_known_and_say_what_to_import(kind: str) -> None:
    reader, value = SIDECARS[kind]
    raw = as_json(value)
    assert recognises(reader, raw, "any.name")
    (element,) = read(reader, raw)
    assert isinstance(element, Warned)
    assert "conversations" in element.message
    assert {them.name for them, _ in SIDECARS.values() if recognises(them, raw)} == {reader.name}
    assert not recognises(READER, raw)


@pytest.mark.parametrize("kind", SIDECARS)
def test_conversations_are_none_of_them(kind: str) -> None:
    reader, _ = SIDECARS[kind]
    for value in ([chat(human("m", "x"))], chat(human("m", "x")), {"conversations": [chat()]}, [], {}):
        assert not recognises(reader, as_json(value))


def test_the_manifest_names_the_archives_and_fetches_none() -> None:
    (message,) = warned(read(ClaudeManifestReader(), as_json(MANIFEST)))
    assert "conversations-000.zip, projects-000.zip" in message
    assert "example.test" not in message


def test_a_long_manifest_is_told_shortly() -> None:
    files = [{"file_name": f"design_chats-{n:03d}.zip", "export_url": "u"} for n in range(500)]
    (message,) = warned(read(ClaudeManifestReader(), as_json({"data_files": files})))
    assert "and 450 more" in message


@given(ANY)
def test_a_manifest_of_any_shape_is_a_remark(value: object) -> None:
    for manifest in ({"data_files": value}, {"data_files": [value]}, {"data_files": [{"file_name": value}]}, value):
        assert len(warned(read(ClaudeManifestReader(), as_json(manifest)))) == 1


@given(st.binary(max_size=200))
def test_recognising_never_raises(raw: bytes) -> None:
    for reader, _ in SIDECARS.values():
        assert recognises(reader, raw) in (True, False)
