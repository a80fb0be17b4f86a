"""Who speaks: the operator, an agent, or another person.

In a conversation with agents, `user` and `operator` are both the operator. In a chat among people, `user` is somebody
else and only `operator` is the operator; there, whoever else speaks answers.
"""

from typing import Final, Literal

from schemas.event import CanonicalEvent

Speaker = Literal["operator", "agent", "person"]

CHATS: Final = frozenset(
    {
        "telegram",
        "element",
        "matrix",
        "whatsapp",
        "signal",
        "slack",
        "discord",
        "irc",
        "teams",
        "sms",
        "imessage",
        "mattermost",
        "email",
    }
)
"""Providers that connect people; a suffix such as `whatsapp-cloud` belongs to its first word."""

_AGENTS: Final = frozenset({"assistant", "agent", "bot"})


def is_chat(provider: str) -> bool:
    """Whether people talk to each other there."""
    return provider.replace("_", "-").partition("-")[0] in CHATS


def speaker(event: CanonicalEvent) -> Speaker | None:
    """Say who speaks in an event; None for tools and the system."""
    role = event.event.role
    if role in _AGENTS:
        return "agent"
    if role == "operator":
        return "operator"
    if role == "user":
        return "person" if is_chat(event.source.provider) else "operator"
    return None
