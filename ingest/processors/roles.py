"""The one home of role words: what each provider calls a speaker, and the canonical role that is meant.

Words are compared without case, blanks, hyphens and underscores. Sources: section 2.9 of the session formats, the
role and direction tables of the export and chat formats.
"""

from functools import lru_cache
from typing import Final, NamedTuple

from schemas.event import EventType, Role

UNKNOWN_LABEL: Final = "role-unknown"


class Speaker(NamedTuple):
    """A canonical role, and whether the provider's word for it is known."""

    role: Role
    known: bool


_EVERYWHERE: Final[dict[str, Role]] = {
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "system": "system",
    "agent": "agent",
    "operator": "operator",
    "bot": "bot",
    # Canonical files from before 2026-05-18 call the operator human; export archives, below, mean their user by it.
    "human": "operator",
    "developer": "system",
    "model": "assistant",
    "ai": "assistant",
    "function": "tool",
    "toolresult": "tool",
    "tooluse": "assistant",
    "toolcall": "assistant",
}

_PI: Final[dict[str, Role]] = {
    "bashexecution": "tool",
    "custom": "agent",
    "custommessage": "agent",
    "hookmessage": "agent",
    "branchsummary": "system",
    "compactionsummary": "system",
    "compaction": "system",
}

_AGENT: Final[dict[str, Role]] = {
    "human": "user",
    "summary": "system",
    "attachment": "user",
    "queuedcommand": "user",
    "progress": "system",
    "functioncall": "assistant",
    "functioncalloutput": "tool",
    "customtoolcall": "assistant",
    "customtoolcalloutput": "tool",
    "localshellcall": "assistant",
    "reasoning": "assistant",
    "usermessage": "user",
    "agentmessage": "assistant",
    "agentreasoning": "assistant",
    "subagent": "agent",
}

_EXPORT: Final[dict[str, Role]] = {
    "human": "user",
    "you": "user",
    "me": "user",
    "userturn": "user",
    "systemturn": "assistant",
    "query": "user",
    "prompt": "user",
    "answer": "assistant",
    "gemini": "assistant",
    "chatgpt": "assistant",
    "claude": "assistant",
    "copilot": "assistant",
    "grok": "assistant",
    # DeepSeek has fragments in place of roles.
    "request": "user",
    "file": "user",
    "response": "assistant",
    "think": "assistant",
    "search": "tool",
    "toolsearch": "tool",
    "toolopen": "tool",
    "toolfind": "tool",
}

# Chat platforms have directions: outbound words of a person are the operator's, of a program the bot's.
_CHAT: Final[dict[str, Role]] = {
    "human": "user",
    "inbound": "user",
    "incoming": "user",
    "member": "user",
    "outbound": "operator",
    "outgoing": "operator",
    "self": "operator",
    "me": "operator",
    "owner": "operator",
    "echo": "operator",
    "notice": "bot",
    "program": "bot",
    "service": "system",
    "directionless": "system",
    "channel": "user",
}

_FAMILIES: Final[dict[str, dict[str, Role]]] = {
    "pi": _PI,
    **dict.fromkeys(("claude-code", "codex", "gemini-cli", "opencode", "omp"), _AGENT),
    **dict.fromkeys(
        (
            "chatgpt", "openai", "claude", "anthropic", "gemini", "google", "bard", "aistudio", "ai-studio",
            "google-gemini", "google-aistudio", "notebooklm", "copilot", "microsoft", "grok", "xai", "deepseek",
            "perplexity", "mistral", "lechat", "le-chat", "meta", "meta-ai", "openwebui", "open-webui", "librechat",
            "lmstudio", "lm-studio", "jan", "poe", "character-ai", "clipper", "ai-chat-clipper", "pam",
        ),
        _EXPORT,
    ),
    **dict.fromkeys(("telegram", "matrix", "whatsapp", "signal", "slack", "discord", "element"), _CHAT),
}  # fmt: skip

_BY_EVENT_TYPE: Final[dict[str, Role]] = {"tool_result": "tool", "tool_call": "assistant", "signal": "agent"}
_SQUEEZE: Final = str.maketrans("", "", " -_\t")


@lru_cache(maxsize=4096)
def speaker(provider: str, word: str, event_type: EventType) -> Speaker:
    """Give the canonical role that a provider's word means.

    An unknown word follows the event's type: a tool's output is the tool's, a call the assistant's. Any other unknown
    speaker becomes `system`, never a person or an agent: words of somebody we cannot place must neither answer a
    question in the operator's name nor put one to him. The caller labels such an event `UNKNOWN_LABEL`.
    """
    squeezed = word.translate(_SQUEEZE).lower()
    role = _FAMILIES.get(provider, {}).get(squeezed) or _EVERYWHERE.get(squeezed) or _model_name(provider, squeezed)
    if role:
        return Speaker(role, known=True)
    return Speaker(_BY_EVENT_TYPE.get(event_type, "system"), known=False)


def _model_name(provider: str, squeezed: str) -> Role | None:
    # Grok names the model that answered (`grok-3`) where others say assistant.
    return "assistant" if provider in {"grok", "xai"} and squeezed.startswith("grok") else None
