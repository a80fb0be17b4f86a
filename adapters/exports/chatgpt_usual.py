"""The usual message of ChatGPT, told quickly: words between a person and the model, with nothing else about them.

Nine of ten messages are that. What is told here is what the long way of `chatgpt_messages` says too (a test compares
them); this one only costs less.
"""

from typing import Final

from adapters.exports.chatgpt_shapes import Author, Content, Message, Metadata

FINISHED: Final = "finished_successfully"
"""The status of a message that came to its end."""


def usual_words(message: Message) -> str | None:
    """Give the words of a message that was said to everybody, once, at a known time, and came with nothing; or None."""
    content, author, metadata = message.content, message.author, message.metadata
    if (
        type(content) is Content
        and content.content_type == "text"
        and type(parts := content.parts) is list
        and len(parts) == 1
        and type(text := parts[0]) is str
        and type(author) is Author
        and (author.role == "user" or author.role == "assistant")  # noqa: PLR1714 - `in` would hash any JSON value
        and not author.metadata
        and message.recipient == "all"
        and message.channel is None
        and message.weight == 1.0
        and message.status == FINISHED
        and type(message.create_time) is float
        and message.create_time > 0.0
        and message.update_time is None
        and type(metadata) is Metadata
        and not metadata.is_visually_hidden_from_conversation
        and not metadata.is_user_system_message
        and not metadata.attachments
        and not metadata.citations
        and not metadata.content_references
        and not metadata.search_result_groups
        and text
        and not text.isspace()
    ):
        return text
    return None
