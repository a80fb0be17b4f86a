"""Perplexity, Meta AI, Le Chat, LM Studio and AI Chat Clipper: what was said in order, everything else in its place."""

import pytest

from adapters.contract import PermanentSourceError
from adapters.exports.meta_ai import mended
from tests.support.ai_exports import as_json, heard, ids, imported, read, skipped, told, warned
from tests.support.ai_others import (
    clip,
    le_chat,
    lm_studio,
    meta,
    perplexity_entries,
    perplexity_official,
    perplexity_thread,
)
from tests.support.ai_samples import READERS, SAMPLES


def test_perplexity_threads() -> None:
    """A query, then its answer; an empty answer is none, suggested questions are nobody's (case 57)."""
    elements = read(READERS["Perplexity thread"], as_json(perplexity_thread()))
    assert told(elements) == [
        ("message", "user", "Best route?"),
        ("message", "assistant", "The coast [1]."),
        ("message", "user", "And in snow?"),
    ]
    assert heard(elements)[1].citations[0].url == "https://map.example.test"
    assert (elements[0].thread.thread_id, elements[0].thread.title) == ("px-1", "Best route")
    assert len(skipped(elements)) == 1


def test_perplexity_entries() -> None:
    question, answer = read(READERS["Perplexity thread"], as_json(perplexity_entries()))
    assert (question.event.text, answer.event.text, answer.event.model) == ("By rail?", "Take the train.", "sonar")
    assert answer.thread.thread_id == "px-2"
    assert answer.event.citations[0].url == "https://rail.example.test"


def test_perplexity_official() -> None:
    elements = read(READERS["Perplexity export"], as_json({"conversations": [perplexity_official()]}))
    assert [event.text for event in heard(elements)] == ["Best flour, px-3?", "Rye.", "And water?"]
    assert elements[0].thread.title == "Bread"


def test_workbooks_say_what_to_import() -> None:
    (message,) = warned(read(READERS["Excel workbook"], SAMPLES["Excel workbook"][1]))
    assert "conversations-*.json" in message


@pytest.mark.parametrize(
    ("damaged", "right"),
    [
        ("caf\u00c3\u00a9", "café"),
        ("\u00f0\u009f\u0098\u0080", "😀"),
        ("\u00e6\u00b2\u00a1", "没"),
        ("plain", "plain"),
        ("café", "café"),
        ("没有", "没有"),
        ("\u00c3", "\u00c3"),
    ],
)
def test_bytes_written_as_characters_are_mended(damaged: str, right: str) -> None:
    """What was right already stays (case 53)."""
    assert mended(damaged) == right


def test_meta_messages_come_oldest_first() -> None:
    elements = read(READERS["Meta AI thread"], as_json(meta()))
    assert told(elements) == [
        ("message", "user", "[image]"),
        ("message", "user", "coffee?"),
        ("message", "assistant", "Try “café”"),
    ]
    assert [event.author_id for event in heard(elements)] == ["Zoë", "Zoë", "Meta AI"]
    assert elements[0].thread.thread_id == "inbox/metaai_123"


def test_equal_messages_of_one_moment_are_both_kept() -> None:
    message = {"sender_name": "Z", "timestamp_ms": 1735689600000, "content": "hm"}
    elements = read(READERS["Meta AI thread"], as_json(meta(messages=[message, message])))
    assert len(set(ids(elements))) == 2


def test_chats_between_people_are_named_and_not_read() -> None:
    (message,) = warned(read(READERS["Messenger thread between people"], SAMPLES["Messenger thread between people"][1]))
    assert "between people" in message


def test_le_chat() -> None:
    """Chunks win over the flat text, messages come in the order of time, calls have results."""
    elements = read(READERS["Le Chat export"], as_json(le_chat()))
    assert told(elements) == [
        ("message", "user", "Does it rain?"),
        ("tool_call", "assistant", 'web_search {"query":"rain"}'),
        ("tool_result", "tool", '{"n":1}'),
        ("message", "assistant", "Let me look.\n\nIt rains."),
        ("message", "user", "thanks"),
    ]
    assert [item.name for item in heard(elements)[0].attachments] == ["sky.png"]
    assert {element.thread.thread_id for element in elements} == {"lc-1"}


def test_le_chat_versions_of_one_message_are_both_kept() -> None:
    messages = le_chat()
    messages.append({**messages[1], "version": 1, "content": "Does it snow?"})
    elements = read(READERS["Le Chat export"], as_json(messages))
    assert len(set(ids(elements))) == 6
    assert ["version:1"] in [event.labels for event in heard(elements)]


def test_lm_studio() -> None:
    """The selected version is live, the others are branches of one message; reasoning and prompts stand apart."""
    elements = read(READERS["LM Studio conversation"], as_json(lm_studio()))
    assert told(elements) == [
        ("message", "user", "hello"),
        ("status", "assistant", "let me see"),
        ("message", "assistant", "Hello!"),
        ("message", "assistant", "Hi."),
    ]
    assert [bool(event.branch_id) for event in heard(elements)] == [False, False, False, True]
    assert [skip.what for skip in skipped(elements)] == ["system prompt"]
    events = imported(elements).events
    assert {event.event.timestamp_iso for event in events} == {"2025-08-04T09:33:20.000Z"}
    assert all("time-inferred" in event.event.labels for event in events)


def test_a_clip() -> None:
    """The provider is the site, reasoning stands apart, each kind of content is kept (case 63)."""
    elements = read(READERS["AI Chat Clipper clip"], as_json(clip()))
    assert told(elements) == [
        ("message", "user", "Show a table"),
        ("status", "assistant", "plan first"),
        ("message", "assistant", "Intro\n\n```python\nx = 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |"),
    ]
    assert heard(elements)[2].attachments[0].url == "https://i.example.test/1.png"
    assert {(e.thread.provider, e.thread.thread_id) for e in elements} == {
        ("claude", "11111111-2222-4333-8444-555555555555")
    }
    assert all("time-inferred" in event.event.labels for event in imported(elements).events)


def test_a_later_clip_of_the_same_chat_adds_only_what_is_new() -> None:
    reader = READERS["AI Chat Clipper clip"]
    later = clip(exported_at="2026-08-01T00:00:00Z", title="Renamed")
    later["messages"] = [*later["messages"], {"index": 2, "role": "user", "content": "more"}]
    before, after = ids(read(reader, as_json(clip()))), ids(read(reader, as_json(later)))
    assert after[:3] == before
    assert len(after) == 4


def test_a_clip_without_segments_loses_its_quoted_reasoning() -> None:
    messages = [{"index": 0, "role": "assistant", "content": "> **Thinking** (2s)\n> plan first\n\nIntro\n> quoted"}]
    elements = read(READERS["AI Chat Clipper clip"], as_json(clip(messages=messages)))
    assert told(elements) == [("status", "assistant", "plan first"), ("message", "assistant", "Intro\n> quoted")]


@pytest.mark.parametrize("version", ["ai-chat-extractor/conversation@1", "ai-chat-extractor/conversation@3"])
def test_other_versions_of_a_clip_are_named_not_guessed(version: str) -> None:
    with pytest.raises(PermanentSourceError, match=version):
        read(READERS["AI Chat Clipper clip"], as_json(clip(schema=version)))


def test_an_unknown_kind_of_content_keeps_its_text_and_says_so() -> None:
    messages = [{"index": 0, "role": "assistant", "contents": [{"type": "formula", "text": "x^2"}]}]
    (event,) = heard(read(READERS["AI Chat Clipper clip"], as_json(clip(messages=messages))))
    assert (event.text, event.labels) == ("x^2", ["content:formula"])
