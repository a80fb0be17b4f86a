"""Grok's account data: wrapped twice or flat, four spellings of the sender, two of time, the newest leaf live."""

from tests.support.ai_exports import as_json, heard, ids, imported, read, rejected, skipped, told
from tests.support.ai_others import grok, grok_conversation, grok_response
from tests.support.ai_samples import READERS

READER = READERS["Grok export"]


def read_responses(*responses: object, **about: object) -> list:
    return read(READER, as_json(grok({"conversation": {"id": "gk", **about}, "responses": list(responses)})))


def test_the_live_line_comes_first_and_reasoning_stands_apart() -> None:
    elements = read(READER, as_json(grok(grok_conversation())))
    assert told(elements) == [
        ("message", "human", "Name one"),
        ("status", "assistant", "which one"),
        ("message", "assistant", "Hekla."),
        ("message", "assistant", "Etna."),
    ]
    assert [event.branch_id for event in heard(elements)] == [None, None, None, "gk-1-r2"]
    assert [event.parent_message_id for event in heard(elements)] == [None, "gk-1-r1", "gk-1-r1", "gk-1-r1"]


def test_a_leaf_that_is_named_is_live() -> None:
    elements = read_responses(
        grok_response("a", None, "human", "q", 1), grok_response("b", "a", "assistant", "old", 2),
        grok_response("c", "a", "assistant", "new", 3), leaf_response_id="b")  # fmt: skip
    assert [event.text for event in heard(elements) if not event.branch_id] == ["q", "old"]


def test_times_of_both_kinds() -> None:
    elements = read_responses(
        grok_response("a", None, "human", "q", 0, create_time="2026-01-05T08:00:00.5Z"),
        grok_response("b", "a", "ASSISTANT", "r", 1767600060000))  # fmt: skip
    assert [event.event.timestamp_iso for event in imported(elements).events] == [
        "2026-01-05T08:00:00.500Z",
        "2026-01-05T08:01:00.000Z",
    ]


def test_senders() -> None:
    """A model's name is the assistant's; nobody stays nobody."""
    senders = ["human", "Human", "assistant", "ASSISTANT", "grok-3", "aurora", None]
    elements = read_responses(*(grok_response(str(n), None, who, f"m{n}", n) for n, who in enumerate(senders)))
    roles = {event.event.text: event.event.role for event in imported(elements).events}
    assert [roles[f"m{n}"] for n in range(7)] == ["user", "user", *["assistant"] * 4, "system"]


def test_flat_responses_give_the_same_ids() -> None:
    wrapped = grok_conversation()
    flat = {**wrapped["conversation"], "responses": [item["response"] for item in wrapped["responses"]]}
    assert ids(read(READER, as_json(grok(flat)))) == ids(read(READER, as_json(grok(wrapped))))


def test_machinery_inside_words_is_removed() -> None:
    (event,) = heard(read_responses(grok_response(
        "a", None, "assistant",
        'It is so.<grok:render type="x"><argument>1</argument></grok:render> Yes <grok:render', 1,
        thinking_trace="<xai:tool_usage_card>x</xai:tool_usage_card>")))  # fmt: skip
    assert event.text == "It is so. Yes <grok:render"


def test_attachments_citations_and_errors() -> None:
    picture, failed = heard(read_responses(
        grok_response("a", None, "assistant", "", 1, generated_image_urls=["https://i.example.test/1.jpg"],
                      file_attachments=["asset-1", {"fileName": "plan.pdf"}],
                      cited_web_search_results=[{"url": "https://c.example.test", "title": "C", "preview": "p"}]),
        grok_response("b", "a", "assistant", "", 2, error="overloaded")))  # fmt: skip
    assert [item.name or item.url for item in picture.attachments] == [
        "https://i.example.test/1.jpg",
        "asset-1",
        "plan.pdf",
    ]
    assert (picture.citations[0].url, picture.citations[0].quote) == ("https://c.example.test", "p")
    assert (failed.type, failed.text, failed.labels) == ("status", "overloaded", ["error"])


def test_equal_ids_are_told_apart_by_what_they_say() -> None:
    twice = [grok_response("a", None, "human", "q", 1)] * 2
    elements = read_responses(*twice, grok_response("a", None, "human", "other", 2))
    assert sorted(event.text for event in heard(elements)) == ["other", "q"]
    assert len(set(ids(elements))) == 2
    assert [skip.outcome for skip in skipped(elements)] == ["duplicate"]


def test_a_ring_of_parents_ends() -> None:
    elements = read_responses(grok_response("a", "b", "human", "1", 1), grok_response("b", "a", "human", "2", 2))
    assert sorted(event.text for event in heard(elements)) == ["1", "2"]


def test_empty_and_broken_conversations_are_counted() -> None:
    elements = read(
        READER, as_json(grok({"conversation": {"id": "e"}, "responses": []}, {"conversation": {}}, grok_conversation()))
    )
    assert [skip.what for skip in skipped(elements)] == ["conversation without messages"]
    assert [bad.reason for bad in rejected(elements)] == ["not-a-conversation"]
    assert len(heard(elements)) == 4
