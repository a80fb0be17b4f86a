"""A PAM bundle from the log: `conversations/ID.json` for each thread, and `memory-store.json` with the index of them.

A thread at a time, and of that a message at a time. File names are UUIDs of this program: nothing that an event says
is ever used as a path. The same log gives the same bytes: ids are computed, and nothing tells when the export was made.
Source: sections 1, 2 and 6.39 to 6.41 of the PAM page.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from adapters.exports.pam_own import CHANNEL, EVENTS, MARK, PROVIDER, WORKSPACE
from ingest.export_facts import Facts
from ingest.export_message import MessageWriter
from ingest.export_selection import Reading
from ingest.export_threads import ThreadIndex, ThreadPlace
from ingest.mended import place_of, unmarked
from schemas.event import SCHEMA_VERSION, CanonicalEvent, decode
from schemas.ids import event_id
from schemas.pam import (
    CONVERSATION,
    PROVIDER_PATTERN,
    VERSION,
    Conversation,
    ImportMetadata,
    Message,
    Period,
    ProviderInfo,
)
from schemas.pam_store import IndexEntry, Memory, Relation, Storage, make_store

STORE_NAME: Final = "memory-store.json"
FOLDER: Final = "conversations"
DEFAULT_OWNER: Final = "local-owner"

_BUFFER_BYTES: Final = 256 * 1024
_is_platform: Final = re.compile(PROVIDER_PATTERN).fullmatch
_NOT_PLATFORM: Final = re.compile(r"[^a-z0-9_-]+")
_MAX_PLATFORM_CHARS: Final = 32
_RELEASE: Final = re.compile(r"\d+\.\d+\.\d+")

_is_our_file: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.json").fullmatch
_OUR_STORE: Final = '"exported_by":"session-triage/'
_HEAD_BYTES: Final = 4096
"""The members before the memories: what a store says of itself."""

_encode: Final = msgspec.json.Encoder().encode


@dataclass(slots=True)
class Bundle:
    """What was written."""

    conversations: int = 0
    messages: int = 0
    repeated: int = 0


class BundleWriter:
    """Writes a bundle into an empty folder."""

    def __init__(
        self,
        folder: Path,
        reading: Reading,
        owner: str = DEFAULT_OWNER,
        memories: Sequence[Memory] = (),
        relations: Sequence[Relation] = (),
    ) -> None:
        self._folder = folder
        self._reading = reading
        self._store = make_store(owner, importer(), memories, relations)
        self._derived: dict[str, list[str]] = {}
        for memory in self._store.memories:
            if reference := memory.provenance.conversation_ref:
                self._derived.setdefault(reference, []).append(memory.id)
        self._digest = hashlib.sha256(_encode(self._store))
        self.bundle = Bundle()

    def write(self) -> Bundle:
        """Write all conversations and the store; raises `OSError` and `ingest.log.contract.LogError`."""
        (self._folder / FOLDER).mkdir()
        with ThreadIndex() as index, (self._folder / STORE_NAME).open("xb", buffering=_BUFFER_BYTES) as stream:
            for record, event in self._reading.selected():
                index.add(event, place_of(record))
            index.finish()
            head, tail = _open_array(_encode(self._store))
            stream.write(head)
            for number, entry in enumerate(self._entries(index)):
                stream.write(b",\n" if number else b"\n")
                stream.write(_encode(entry))
            # Content tells exports apart, so that importing one twice is noticed, and equal ones stay equal.
            stream.write(tail + b',"export_id":' + _encode(event_id("pam-export", self._digest.digest())) + b"}\n")
        return self.bundle

    def _entries(self, index: ThreadIndex) -> Iterator[IndexEntry]:
        for thread in index.threads():
            facts = Facts()
            facts.take(self._events(index, thread))
            self.bundle.repeated += facts.repeated
            self._reading.missing += index.count(thread) - len(facts.parents) - facts.repeated
            if facts.parents:
                yield self._conversation(index, thread, facts)

    def _conversation(self, index: ThreadIndex, thread: ThreadPlace, facts: Facts) -> IndexEntry:
        root = conversation(thread, facts)
        name = f"{root.id}.json"
        writer = MessageWriter(facts.thread, archived=facts.archived)
        head, tail = _open_array(_encode(root))
        written: set[str] = set()
        with (self._folder / FOLDER / name).open("xb", buffering=_BUFFER_BYTES) as stream:
            self._put(stream, head)
            for event in self._events(index, thread):
                identity = event.event.id
                if identity in written or identity not in facts.parents:
                    continue
                self._put(stream, b",\n" if written else b"\n")
                children = facts.children.get(identity, [])
                self._put(stream, writer.write(event, facts.parents[identity], children))
                written.add(identity)
            self._put(stream, tail + b"}\n")
        self._reading.missing += len(facts.parents) - len(written)
        self.bundle.conversations += 1
        self.bundle.messages += len(written)
        return IndexEntry(
            id=root.id,
            platform=root.provider.name,
            temporal=root.temporal,
            title=root.title,
            message_count=len(written),
            derived_memories=self._derived.get(root.id, []),
            storage=Storage(type="file", ref=f"{FOLDER}/{name}", format="json"),
        )

    def _put(self, stream: BinaryIO, data: bytes) -> None:
        stream.write(data)
        self._digest.update(data)

    def _events(self, index: ThreadIndex, thread: ThreadPlace) -> Iterator[CanonicalEvent]:
        """Yield a thread's events in order of time: those that the first look could decode."""
        records = self._reading.records(index.places(thread))
        return (unmarked(record, decode(record.value))[1] for record in records)


def occupied(folder: Path) -> str | None:
    """Say why an export must not take the place of a folder: it holds what no export of this program wrote."""
    if not folder.exists():
        return None
    if not folder.is_dir():
        return f"{folder} is no folder"
    names = {path.name for path in folder.iterdir()}
    if not names:
        return None
    others = names - {STORE_NAME, FOLDER}
    others |= {path.name for path in (folder / FOLDER).glob("*") if not _is_our_file(path.name)}
    if others or not _is_our_store(folder / STORE_NAME):
        shown = ", ".join(sorted(others)[:3]) or STORE_NAME
        return f"{folder} holds what no export of this program wrote ({shown}); name a new or an empty folder"
    return None


def _is_our_store(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return _OUR_STORE.encode() in stream.read(_HEAD_BYTES)


def conversation_id(thread: ThreadPlace) -> str:
    """Give the id of a thread's conversation, which is also its file's name: a UUID, whatever the thread is called."""
    return event_id("pam-conversation", thread.provider, thread.account, thread.thread_id)


def conversation(thread: ThreadPlace, facts: Facts) -> Conversation:
    """Make the root of a thread's conversation, without its messages."""
    own: dict[str, str] = {EVENTS: SCHEMA_VERSION}
    platform = _platform(thread.provider)
    if platform != thread.provider:
        own[PROVIDER] = thread.provider
    if facts.workspace is not None:
        own[WORKSPACE] = facts.workspace
    if facts.channel_id is not None:
        own[CHANNEL] = facts.channel_id
    messages: list[Message] = []
    return Conversation(
        schema=CONVERSATION,
        schema_version=VERSION,
        id=conversation_id(thread),
        provider=ProviderInfo(name=platform, conversation_id=thread.thread_id, account_id=thread.account),
        temporal=Period(created_at=facts.created_at, updated_at=facts.updated_at),
        title=facts.title,
        participants=list(facts.participants.values()),
        model=facts.model,
        is_archived=facts.archived,
        import_metadata=ImportMetadata(importer=importer(), imported_at=facts.imported_at),
        raw_metadata={MARK: own},
        messages=messages,
    )


def importer() -> str:
    """Name this program as PAM has it: `session-triage/1.2.3`."""
    try:
        release = _RELEASE.match(version("session-triage"))
    except PackageNotFoundError:
        release = None
    return f"session-triage/{release[0] if release else '0.0.0'}"


def _platform(provider: str) -> str:
    """Give a provider's name as PAM allows it."""
    if _is_platform(provider):
        return provider
    name = _NOT_PLATFORM.sub("-", provider.lower()).strip("-")[:_MAX_PLATFORM_CHARS]
    return name if _is_platform(name) else "unknown"


def _open_array(root: bytes) -> tuple[bytes, bytes]:
    """Cut a root whose last member is an empty array, for its elements to be written between the two."""
    return root.removesuffix(b"]}"), b"\n]"
