"""The memory store of Portable AI Memory (PAM) 1.0, as it is written: memories, and the index of conversations.

Source: section 2 of the PAM page. `make_store` computes what a store says about itself.
"""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta as Rule

from schemas.event import NonEmpty
from schemas.pam import VERSION, Closed, Count, Period, Platform, Sha256, Software, Tag
from schemas.pam_integrity import checksum

SPEC_URI: Final = "https://portable-ai-memory.org/spec/v1.0"
"""Names the specification; never fetched."""

MemoryType = Literal[
    "fact", "preference", "skill", "context", "relationship", "goal", "instruction", "identity", "environment",
    "project", "custom",
]  # fmt: skip
Status = Literal["active", "superseded", "deprecated", "retracted", "archived"]
Share = Annotated[float, Rule(ge=0, le=1)]


class Validity(Period):
    """When a memory was made, changed and holds, and which one replaced it."""

    valid_from: str | None = None
    valid_until: str | None = None
    superseded_by: str | None = None


class Provenance(Closed):
    """Where a memory comes from: `conversation_ref` is an id of the index, `message_ref` of a message there."""

    platform: Platform
    platform_user_id: str | None = None
    conversation_ref: str | None = None
    message_ref: str | None = None
    extraction_method: (
        Literal["llm_inference", "explicit_user_input", "api_export", "browser_extraction", "manual"] | None
    ) = None
    extracted_at: str | None = None
    extractor: Software | None = None


class Confidence(Closed):
    """How sure a memory is, from 0 to 1."""

    initial: Share | None = None
    current: Share | None = None
    decay_model: Literal["time_linear", "time_exponential", "none"] | None = None
    last_reinforced: str | None = None


class Grant(Closed):
    """Who else may do what with a memory."""

    entity: NonEmpty
    permissions: list[Literal["read", "write", "delete"]]


class Access(Closed):
    """Who may see a memory; one that is not exportable never leaves."""

    visibility: Literal["private", "shared", "public"] = "private"
    exportable: bool = True
    shared_with: list[Grant] = msgspec.field(default_factory=list)


class Memory(Closed):
    """One memory. `status` and `tags` are always written: the reference SDK counts them into its checksum."""

    id: NonEmpty
    type: MemoryType
    content: NonEmpty
    content_hash: Sha256
    temporal: Validity
    provenance: Provenance
    status: Status
    tags: list[Tag]
    custom_type: NonEmpty | None = None
    summary: str | None = None
    confidence: Confidence | None = None
    access: Access | None = None
    embedding_ref: str | None = None
    metadata: dict[str, Any] = msgspec.field(default_factory=dict)


class Relation(Closed):
    """How one memory stands to another."""

    id: NonEmpty
    source: NonEmpty = msgspec.field(name="from")
    target: NonEmpty = msgspec.field(name="to")
    type: Literal["supports", "contradicts", "extends", "supersedes", "related_to", "derived_from"]
    created_at: str
    confidence: Share | None = None


class Storage(Closed):
    """Where a conversation's file lies, relative to the store's."""

    type: Literal["file", "database", "object_storage", "vector_db", "uri"]
    ref: NonEmpty
    format: str | None = None


class IndexEntry(Closed):
    """One conversation of the bundle."""

    id: NonEmpty
    platform: Platform
    temporal: Period
    title: str | None = None
    message_count: Count | None = None
    tags: list[Tag] = msgspec.field(default_factory=list)
    derived_memories: list[NonEmpty] = msgspec.field(default_factory=list)
    storage: Storage | None = None


class Owner(Closed):
    """Whose memories they are; `id` stays the same in every export."""

    id: NonEmpty
    did: str | None = None
    created_at: str | None = None


class Integrity(Closed):
    """The checksum over the memories, and how many there are."""

    canonicalization: Literal["RFC8785"]
    checksum: Sha256
    total_memories: Count


class MemoryStore(Closed, kw_only=True):
    """The root of `memory-store.json`. The index comes last, so that it can be written entry by entry."""

    schema: Literal["portable-ai-memory"]
    schema_version: Literal["1.0"]
    spec_uri: str
    owner: Owner
    exported_by: Software
    memories: list[Memory]
    integrity: Integrity
    relations: list[Relation] = msgspec.field(default_factory=list)
    export_id: str | None = None
    conversations_index: list[IndexEntry]


def make_store(
    owner: str, exported_by: str, memories: Iterable[Memory] = (), relations: Sequence[Relation] = ()
) -> MemoryStore:
    """Make a store without its index, sorted by id; memories that are not exportable are left out, and what names them.

    No embeddings are shipped, so none is named.

    Raises `schemas.pam_canonical.NotCanonicalError` for memories that have no checksum.
    """
    leaving = sorted((memory for memory in memories if _leaves(memory)), key=lambda memory: memory.id)
    known = {memory.id for memory in leaving}
    kept = [_within(memory, known) for memory in leaving]
    return MemoryStore(
        schema="portable-ai-memory",
        schema_version=VERSION,
        spec_uri=SPEC_URI,
        owner=Owner(id=owner),
        exported_by=exported_by,
        memories=kept,
        integrity=Integrity(
            canonicalization="RFC8785",
            checksum=checksum(msgspec.to_builtins(memory) for memory in kept),
            total_memories=len(kept),
        ),
        relations=[relation for relation in relations if {relation.source, relation.target} <= known],
        conversations_index=[],
    )


def _within(memory: Memory, known: set[str]) -> Memory:
    """Give a memory that names nothing outside the bundle."""
    successor = memory.temporal.superseded_by
    validity = memory.temporal
    if successor is not None and successor not in known:
        validity = msgspec.structs.replace(validity, superseded_by=None)
    return msgspec.structs.replace(memory, temporal=validity, embedding_ref=None)


def _leaves(memory: Memory) -> bool:
    return memory.access is None or memory.access.exportable
