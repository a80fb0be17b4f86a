"""The conversation of Portable AI Memory (PAM) 1.0, as it is written: closed objects, absent rather than null.

Source: section 1 of the PAM page; the official JSON Schema (Apache-2.0) is held against what is written in the tests.
What PAM has no member for goes to `raw_metadata`, the one open object.
"""

from typing import Annotated, Any, Final, Literal

from msgspec import Meta as Rule
from msgspec import Struct

from schemas.event import NonEmpty

VERSION: Final = "1.0"
CONVERSATION: Final = "portable-ai-memory-conversation"
STORE: Final = "portable-ai-memory"
EMBEDDINGS: Final = "portable-ai-memory-embeddings"
"""The constants of `schema`, by which PAM files are told, never by their names."""

PROVIDER_PATTERN: Final = r"[a-z0-9_-]{2,32}"

Platform = Annotated[str, Rule(pattern=f"^{PROVIDER_PATTERN}$")]
Tag = Annotated[str, Rule(pattern=r"^[a-z0-9][a-z0-9_-]*$")]
Software = Annotated[str, Rule(pattern=r"^[a-zA-Z0-9_-]+/[0-9]+\.[0-9]+\.[0-9]+$")]
"""`name/1.2.3`."""
Sha256 = Annotated[str, Rule(pattern=r"^sha256:[a-f0-9]{64}$")]
Count = Annotated[int, Rule(ge=0)]

MessageRole = Literal["user", "assistant", "system", "tool"]
AttachmentType = Literal["file", "image", "audio", "video", "document"]


class Closed(Struct, omit_defaults=True, forbid_unknown_fields=True, kw_only=True, gc=False):
    """What all objects of PAM but `raw_metadata` and `metadata` have in common."""


class ProviderInfo(Closed):
    """Where a conversation comes from: a product's name, not a company's."""

    name: Platform
    conversation_id: str | None = None
    account_id: str | None = None
    export_format_version: str | None = None


class Period(Closed):
    """When something began and was last changed, RFC 3339 with an offset."""

    created_at: str
    updated_at: str | None = None


class Participant(Closed):
    """Somebody who took part; no message can name one."""

    role: MessageRole
    name: str | None = None
    provider_id: str | None = None


class ContentPart(Closed):
    """One part of a message of several."""

    type: Literal["text", "image", "code", "file", "audio", "video"]
    text: str | None = None
    language: str | None = None
    mime_type: str | None = None
    ref: str | None = None


class MessageContent(Closed):
    """The words of a message; `text` and `parts` may stand together."""

    type: Literal["text", "multipart"]
    text: str | None = None
    parts: list[ContentPart] = []


class Attachment(Closed):
    """One item that came with a message; `ref` is a path in the bundle or an address."""

    type: AttachmentType
    name: str | None = None
    mime_type: str | None = None
    ref: str | None = None
    provider_id: str | None = None
    size_bytes: Count | None = None


class Citation(Closed):
    """One source that an answer names; `url` is a URI."""

    url: str | None = None
    title: str | None = None
    snippet: str | None = None


class ToolCall(Closed):
    """A call, or on a tool's message what it gave; an array as input is not allowed."""

    name: NonEmpty
    id: str | None = None
    input: dict[str, Any] | str | None = None
    output: str | None = None


class Message(Closed):
    """One message; `id` is unique in its conversation, `parent_id` and `children_ids` name others of it."""

    id: NonEmpty
    role: MessageRole
    created_at: str
    provider_message_id: str | None = None
    content: MessageContent | None = None
    parent_id: str | None = None
    children_ids: list[NonEmpty] = []
    model: str | None = None
    is_thought: bool = False
    token_count: Count | None = None
    attachments: list[Attachment] = []
    citations: list[Citation] = []
    tool_calls: list[ToolCall] = []
    raw_metadata: dict[str, Any] = {}


class ImportMetadata(Closed):
    """Which program took the conversation from its provider, and when."""

    importer: Software | None = None
    importer_version: str | None = None
    imported_at: str | None = None
    source_file: str | None = None
    source_checksum: Sha256 | None = None


class Conversation(Closed, kw_only=True):
    """One conversation, the root of its file. `messages` come last, so that they can be written one by one."""

    schema: Literal["portable-ai-memory-conversation"]
    schema_version: Literal["1.0"]
    id: NonEmpty
    provider: ProviderInfo
    temporal: Period
    title: str | None = None
    participants: list[Participant] = []
    model: str | None = None
    system_instruction: str | None = None
    is_archived: bool = False
    tags: list[Tag] = []
    import_metadata: ImportMetadata | None = None
    raw_metadata: dict[str, Any] = {}
    messages: list[Message]
