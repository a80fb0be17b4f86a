"""What stands in a ChatGPT conversation, as far as it is read; every member may hold any JSON value.

Typed decoding skips what is never read (children, request ids, moderation). Source: sections 1.2 and 1.3 of the export
formats.
"""

from typing import Any, Final

from msgspec import Struct

from adapters.files.json_line import LineDecoder

Scalar = list[Any] | str | int | float | bool | None
"""What stands where an object should: known, so that it costs no more than its own place."""


class Author(Struct, gc=False):
    """Who a message is by: `name` is the tool's, `metadata.real_author` who wrote in the assistant's name."""

    role: Any = None
    name: Any = None
    metadata: Any = None


class Content(Struct, gc=False):
    """What a message holds; where the words stand depends on `content_type`."""

    content_type: Any = None
    parts: Any = None
    text: Any = None
    content: Any = None
    result: Any = None
    name: Any = None
    title: Any = None
    url: Any = None
    thoughts: Any = None
    screenshot: Any = None
    user_profile: Any = None
    user_instructions: Any = None
    model_set_context: Any = None


class Metadata(Struct, gc=False):
    """The members of a message's metadata that matter."""

    model_slug: Any = None
    resolved_model_slug: Any = None
    is_visually_hidden_from_conversation: Any = None
    is_user_system_message: Any = None
    attachments: Any = None
    citations: Any = None
    content_references: Any = None
    search_result_groups: Any = None
    aggregate_result: Any = None


class Message(Struct, gc=False):
    """One message of a conversation."""

    id: Any = None
    author: Author | Scalar = None
    create_time: Any = None
    update_time: Any = None
    content: Content | Scalar = None
    status: Any = None
    weight: Any = None
    metadata: Metadata | Scalar = None
    recipient: Any = None
    channel: Any = None


class Node(Struct, gc=False):
    """One node of the tree: the root's message is null."""

    parent: Any = None
    message: Message | Scalar = None


class Conversation(Struct, gc=False):
    """One conversation, without what is only its settings."""

    id: Any = None
    conversation_id: Any = None
    title: Any = None
    create_time: Any = None
    update_time: Any = None
    mapping: dict[str, Node | Scalar] | Scalar = None
    current_node: Any = None
    default_model_slug: Any = None
    gizmo_id: Any = None
    conversation_template_id: Any = None
    is_archived: Any = None
    is_do_not_remember: Any = None


class Children(Struct, gc=False):
    """A node's children, read only when parents are missing."""

    children: Any = None


class Lineage(Struct, gc=False):
    """A conversation's tree from above."""

    mapping: dict[str, Children | Scalar] | Scalar = None


decoder: Final = LineDecoder[Conversation](Conversation)
lineage_decoder: Final = LineDecoder[Lineage](Lineage)

NO_AUTHOR: Final = Author()
NO_METADATA: Final = Metadata()
