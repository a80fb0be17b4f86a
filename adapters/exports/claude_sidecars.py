"""Files beside the conversations of a Claude export: projects, memories, people, and lists of conversations.

Source: sections 2.1 and 2.2 of the export formats.
"""

from adapters.exports.claude_messages import PROVIDER
from adapters.exports.shape import Outline
from adapters.exports.sidecar import SidecarReader

_INSTEAD = "import conversations.json, or the archive that holds it"


def projects() -> SidecarReader:
    """Know `projects.json`, and projects saved one by one."""
    return SidecarReader(
        "Claude projects",
        PROVIDER,
        _is_projects,
        f"instructions and documents of projects, no conversations; {_INSTEAD}",
    )


def memories() -> SidecarReader:
    """Know `memories.json`."""
    return SidecarReader(
        "Claude memories", PROVIDER, _is_memories, f"what Claude remembers, no conversations; {_INSTEAD}"
    )


def users() -> SidecarReader:
    """Know `users.json`."""
    return SidecarReader("Claude users", PROVIDER, _is_users, f"names and addresses, no conversations; {_INSTEAD}")


def index() -> SidecarReader:
    """Know a `conversations.json` that only lists conversations, which stand in one file each."""
    return SidecarReader(
        "Claude conversation index",
        PROVIDER,
        _is_index,
        "it lists conversations without their messages; import the files of the folder conversations beside it",
    )


def _is_projects(found: Outline) -> bool:
    names = found.names()
    return (
        {"uuid", "name"} <= names and bool(names & {"prompt_template", "is_starter_project", "docs"}) and _alone(names)
    )


def _is_memories(found: Outline) -> bool:
    return bool(found.names() & {"conversations_memory", "project_memories"}) and _alone(found.names())


def _is_users(found: Outline) -> bool:
    names = found.names()
    return "uuid" in names and bool(names & {"email_address", "verified_phone_number"}) and _alone(names)


def _is_index(found: Outline) -> bool:
    return found.top == "[" and {"uuid", "name", "created_at", "updated_at"} <= found.names() and _alone(found.names())


def _alone(names: frozenset[str]) -> bool:
    return "chat_messages" not in names
