"""Promise: each provider's word for a speaker becomes the canonical role that is meant."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.processors.roles import speaker
from schemas.event import EventType

CANONICAL = ["user", "assistant", "tool", "system", "agent", "operator", "bot"]


@pytest.mark.parametrize("provider", ["pi", "claude", "telegram", "custom", "unknown"])
@pytest.mark.parametrize("role", CANONICAL)
def test_canonical_words_mean_themselves_everywhere(provider: str, role: str) -> None:
    assert speaker(provider, role, "message") == (role, True)


@pytest.mark.parametrize(
    ("provider", "word", "role"),
    [
        ("pi", "toolResult", "tool"),
        ("pi", "bashExecution", "tool"),
        ("pi", "custom", "agent"),
        ("pi", "hookMessage", "agent"),
        ("pi", "branchSummary", "system"),
        ("pi", "compactionSummary", "system"),
        ("pi", "developer", "system"),
        ("claude", "human", "user"),
        ("chatgpt", "function", "tool"),
        ("gemini", "model", "assistant"),
        ("gemini", "system_turn", "assistant"),
        ("copilot", "Human", "user"),
        ("copilot", "AI", "assistant"),
        ("grok", "ASSISTANT", "assistant"),
        ("grok", "grok-3-mini", "assistant"),
        ("deepseek", "REQUEST", "user"),
        ("deepseek", "TOOL_SEARCH", "tool"),
        ("codex", "function_call_output", "tool"),
        ("claude-code", "summary", "system"),
        ("signal", "outgoing", "operator"),
        ("signal", "incoming", "user"),
        ("matrix", "notice", "bot"),
        ("custom", "human", "operator"),
        ("pi", "human", "operator"),
        ("custom", " User ", "user"),
    ],
)
def test_a_provider_decides_what_its_word_means(provider: str, word: str, role: str) -> None:
    assert speaker(provider, word, "message") == (role, True)


@pytest.mark.parametrize(
    ("event_type", "role"),
    [
        ("message", "system"),
        ("summary", "system"),
        ("status", "system"),
        ("tool_call", "assistant"),
        ("tool_result", "tool"),
        ("signal", "agent"),
    ],
)
def test_an_unknown_word_follows_the_type_and_says_so(event_type: EventType, role: str) -> None:
    assert speaker("custom", "gremlin", event_type) == (role, False)


@given(st.text(), st.text(), st.sampled_from(["message", "summary", "status"]))
def test_an_unknown_speaker_is_never_a_person_or_an_agent(provider: str, word: str, event_type: EventType) -> None:
    found = speaker(provider, word, event_type)
    assert found.role in CANONICAL
    assert found.known or found.role == "system"
