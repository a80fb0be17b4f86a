"""PAM for tests: the official schemas as judges, a log of given events, and both directions of the round trip."""

import json
from collections.abc import Iterable
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from jsonschema import Draft202012Validator, FormatChecker
from portable_ai_memory.schemas import load_schema

from adapters.contract import Element, Heard, ReadOptions
from adapters.exports.pam import PamReader
from ingest.export_pam import BundleWriter
from ingest.export_selection import Reading, Selection
from ingest.log.contract import NewRecord, Topic
from ingest.log.embedded import EmbeddedLog
from ingest.packing import Packer
from schemas.captured import decode_record
from schemas.event import CanonicalEvent, encode
from schemas.keys import thread_key
from tests.support.processors import NOON, normalize_all
from tests.support.processors import captured_records as log_records

FORMATS: Final = ("date-time", "uri")


@cache
def judge(name: str) -> Draft202012Validator:
    """The official schema of a document (`conversation`, `memory-store`), formats checked as well."""
    checker = FormatChecker(formats=FORMATS)
    assert set(FORMATS) <= set(checker.checkers), "the packages that check formats are not installed"
    return Draft202012Validator(load_schema(name), format_checker=checker)


def faults(name: str, document: Any) -> list[str]:
    """What the official schema has against a document."""
    return [f"{list(fault.absolute_path)}: {fault.message}" for fault in judge(name).iter_errors(document)]


def message(number: int = 1, **members: Any) -> dict[str, Any]:
    """A message of a conversation by another program."""
    return {
        "id": f"m{number}",
        "role": "user" if number % 2 else "assistant",
        "created_at": f"2026-03-01T10:{number % 60:02}:00Z",
        "content": {"type": "text", "text": f"words {number}"},
        **members,
    }


def conversation(*messages: Any, **members: Any) -> dict[str, Any]:
    """A conversation by another program."""
    return {
        "schema": "portable-ai-memory-conversation",
        "schema_version": "1.0",
        "id": "c-1",
        "provider": {"name": "chatgpt", "conversation_id": "conv-1"},
        "title": "A title",
        "temporal": {"created_at": "2026-03-01T10:00:00Z"},
        "messages": list(messages),
        **members,
    }


def read(document: Any, options: ReadOptions | None = None) -> list[Element]:
    """The elements of a document: JSON, or the bytes of a file."""
    raw = document if isinstance(document, bytes) else json.dumps(document).encode()
    return list(PamReader().read(BytesIO(raw), Path("c.json"), options or ReadOptions()))


def heard(document: Any, options: ReadOptions | None = None) -> list[Heard]:
    """The events of a document, as captured."""
    return [element for element in read(document, options) if isinstance(element, Heard)]


def fill(log: EmbeddedLog, events: Iterable[CanonicalEvent]) -> None:
    """Append events as the normaliser does."""
    log.append([
        NewRecord(
            Topic.EVENTS, thread_key(event.source.provider_account_key, event.source.thread_id), encode(event)
        )
        for event in events
    ])  # fmt: skip


def write_bundle(folder: Path, events: Iterable[CanonicalEvent], **options: Any) -> dict[str, Any]:
    """Export events as a bundle; gives its store and, by file name, its conversations."""
    (folder / "bundle").mkdir(parents=True)
    with EmbeddedLog.open(folder / "log.db") as log:
        fill(log, events)
        BundleWriter(folder / "bundle", Reading(log, Selection()), **options).write()
    return read_bundle(folder / "bundle")


def read_bundle(folder: Path) -> dict[str, Any]:
    """The documents of a bundle by their names in it."""
    return {str(path.relative_to(folder)): json.loads(path.read_bytes()) for path in sorted(folder.rglob("*.json"))}


def imported(folder: Path) -> list[CanonicalEvent]:
    """The events that an import of a bundle's conversations gives."""
    packer = Packer("test", lambda: NOON)
    records: list[NewRecord] = []
    for path in sorted((folder / "conversations").glob("*.json")):
        with path.open("rb") as stream:
            for element in PamReader().read(stream, path, ReadOptions()):
                assert isinstance(element, Heard), element
                records += packer.feed(element)
    records += packer.flush()
    assert all(record.topic is Topic.CAPTURED for record in records)
    return normalize_all(log_records(decode_record(record.value) for record in records))
