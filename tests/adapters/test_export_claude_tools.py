"""Calls of tools and their results in a Claude message find each other, by their ids or by their order."""

import pytest

from adapters.contract import Skipped
from schemas.captured import CapturedEvent
from schemas.event import Citation
from tests.support.ai_exports import heard, skipped
from tests.support.claude import assistant, chat, elements, words

NOTICE = "```\nThis block is not supported on your current device yet.\n```"


def answer(*blocks: object, **members) -> dict:
    return chat(assistant("m", list(blocks), at=9, **members))


def only(conversation: dict, **options) -> CapturedEvent:
    (event,) = heard(elements(conversation, **options))
    return event


def use(name: object = "web_search", key: object = None, **arguments) -> dict:
    return {"type": "tool_use", "id": key, "name": name, "input": arguments, "message": "Searching", "is_mcp_app": None}


def result(content: object, name: object = "web_search", key: object = None, *, failed: bool = False) -> dict:
    return {"type": "tool_result", "tool_use_id": key, "name": name, "content": content, "is_error": failed}


def test_calls_and_results() -> None:
    found = heard(elements(answer(use(query="x", count=2), result([{"type": "text", "text": "found"}]), words("So."))))
    assert [(e.type, e.role, e.text, e.tool_name) for e in found] == [
        ("tool_call", "assistant", 'web_search {"count":2,"query":"x"}', "web_search"),
        ("tool_result", "tool", "found", "web_search"),
        ("message", "assistant", "So.", None),
    ]
    assert found[0].tool_call_id == found[1].tool_call_id


def test_results_without_ids_answer_calls_of_their_name_in_order() -> None:
    calls = [use("a"), use("b"), use("a")]
    results = [result("1", "b"), result("2", "a"), result("3", "a"), result("4", "c")]
    found = heard(elements(answer(*calls, *results)))
    first, second, third = [e.tool_call_id for e in found[:3]]
    assert len({first, second, third}) == 3
    assert [e.tool_call_id for e in found[3:]] == [second, first, third, None]


def test_results_with_ids_answer_theirs() -> None:
    found = heard(
        elements(
            answer(use("a", "t1"), use("a", "t2"), result("2", "a", "t2"), result("x", "a", "t9"), result("1", "a"))
        )
    )
    assert [e.tool_call_id for e in found] == ["t1", "t2", "t2", "t9", "t1"]


def test_a_failure_without_words_is_told_by_its_call() -> None:
    """The call gave nothing, so there is no output to tell of."""
    found = elements(answer(use(query="x"), result([], failed=True), words("So.")))
    assert [(e.type, e.role, e.text, e.labels) for e in heard(found)] == [
        ("status", "assistant", 'web_search {"query":"x"}', ["error"]), ("message", "assistant", "So.", []),
    ]  # fmt: skip
    assert skipped(found) == [Skipped("empty", "failure without words")]


def test_a_failure_with_words_is_a_result() -> None:
    event = heard(elements(answer(use(), result("no network", failed=True))))[1]
    assert (event.type, event.text, event.labels) == ("tool_result", "no network", ["error"])


def test_results_without_words_and_without_calls_are_still_results() -> None:
    found = heard(elements(answer(result([], failed=True), result(None))))
    assert [(event.type, event.text, event.labels) for event in found] == [
        ("tool_result", "", ["error"]), ("tool_result", "", []),
    ]  # fmt: skip


def test_results_hold_pages_and_files() -> None:
    content = [
        {"type": "knowledge", "title": "Page", "url": "https://p.example.test", "text": "found"},
        {"type": "image", "source": {"media_type": "image/png"}, "file_uuid": "f-2"},
        {"type": "local_resource", "name": "plan.md", "file_path": "/mnt/plan.md", "uuid": "f-3"},
        {"type": ["odd"]}, "bare", 5, None,
    ]  # fmt: skip
    event = heard(elements(answer(use(), result(content))))[1]
    assert event.text == "bare\nPage\nfound"
    assert event.citations == [Citation(url="https://p.example.test", title="Page")]
    assert [(a.kind, a.name, a.mime_type, a.url) for a in event.attachments] == [
        ("image", None, "image/png", "f-2"), ("file", "plan.md", None, "f-3"),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["artifacts", "create_file", "str_replace", "bash_tool"])
def test_artifacts_are_calls_with_their_content(name: str) -> None:
    event = only(answer(use(name, command="create", content="# Plan", title="Plan"), text=NOTICE))
    assert (event.type, event.tool_name) == ("tool_call", name)
    assert '"content":"# Plan"' in event.text


@pytest.mark.parametrize(
    ("block", "text"),
    [({"input": None}, "t"), ({"input": "raw"}, 't "raw"'), ({"input": [1]}, "t [1]"), ({"name": None}, "unnamed {}")],
)
def test_calls_of_any_shape(block: dict, text: str) -> None:
    assert only(answer({**use("t"), **block})).text == text
