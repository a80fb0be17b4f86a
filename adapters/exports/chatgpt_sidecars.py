"""Files beside the conversations of a ChatGPT export: share links, ratings, the account.

Source: section 1.1 of the export formats. Each can be absent; none holds a conversation.
"""

from adapters.exports.chatgpt_messages import PROVIDER
from adapters.exports.shape import Outline
from adapters.exports.sidecar import SidecarReader

_INSTEAD = "import conversations.json, or the whole archive"


def shared_links() -> SidecarReader:
    """Know `shared_conversations.json`."""
    return SidecarReader("ChatGPT share links", PROVIDER, _is_shared, f"it lists links, no messages; {_INSTEAD}")


def feedback() -> SidecarReader:
    """Know `message_feedback.json`."""
    return SidecarReader("ChatGPT ratings", PROVIDER, _is_feedback, f"it rates answers, without them; {_INSTEAD}")


def account() -> SidecarReader:
    """Know `user.json`."""
    return SidecarReader("ChatGPT account", PROVIDER, _is_account, f"it describes the account; {_INSTEAD}")


def group_chats() -> SidecarReader:
    """Know the empty `group_chats.json` that most exports have."""
    return SidecarReader("ChatGPT group chats", PROVIDER, _is_empty_chats, f"it is empty; {_INSTEAD}")


def _is_shared(found: Outline) -> bool:
    return {"conversation_id", "is_anonymous"} <= found.names() and not found.names() & {"mapping", "messages"}


def _is_feedback(found: Outline) -> bool:
    return {"conversation_id", "rating"} <= found.names() and not found.names() & {"mapping", "messages"}


def _is_account(found: Outline) -> bool:
    names = found.names()
    return found.top == "{" and {"id", "email"} <= names and bool(names & {"chatgpt_plus_user", "birth_year"})


def _is_empty_chats(found: Outline) -> bool:
    return found.top == "{" and found.names() == {"chats"} and found.array("chats") is not None and not found.names(1)
