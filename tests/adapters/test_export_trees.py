"""DeepSeek, Open WebUI and LibreChat: the live line in order, what was left behind on branches, reasoning apart."""

from tests.support.ai_exports import as_json, heard, ids, imported, read, rejected, skipped, told
from tests.support.ai_others import deepseek, deepseek_node, libre_chat, libre_message, open_webui
from tests.support.ai_samples import READERS

DEEPSEEK, OPEN_WEBUI, LIBRE = READERS["DeepSeek export"], READERS["Open WebUI export"], READERS["LibreChat export"]


def read_deepseek(*nodes: dict) -> list:
    root = {"id": "root", "parent": None, "children": [], "message": None}
    mapping = {node["id"]: node for node in (root, *nodes)}
    return read(
        DEEPSEEK, as_json([{"id": "ds", "title": "t", "inserted_at": "2026-01-02T10:00:00+08:00", "mapping": mapping}])
    )


AT = "2026-01-02T10:00:00+08:00"


def test_deepseek_follows_the_newest_leaf_and_the_tree_not_the_time() -> None:
    """An answer may be stamped before its question."""
    elements = read(DEEPSEEK, as_json([deepseek()]))
    assert told(elements) == [
        ("message", "REQUEST", "Is 7 prime?"),
        ("message", "RESPONSE", "It is."),
        ("message", "REQUEST", "And 8?"),
        ("status", "THINK", "7 = 7"),
        ("message", "RESPONSE", "Yes."),
    ]
    assert [event.branch_id for event in heard(elements)] == [None, None, None, "2", "2"]
    events = imported(elements).events
    assert [event.event.role for event in events] == ["user", "assistant", "user", "assistant", "assistant"]
    assert events[0].event.timestamp_iso == "2026-01-02T02:00:05.000Z"


def test_deepseek_searches_are_results_and_files_come_with_the_request() -> None:
    request = deepseek_node(
        "1", "root", AT, ("FILE", "plan.pdf"), ("REQUEST", "sum up"), files=[{"file_name": "b.txt"}]
    )
    answer = deepseek_node("2", "1", AT, ("SEARCH", ""), ("RESPONSE", "done"))
    answer["message"]["fragments"][0]["results"] = [{"url": "https://s.example.test", "title": "S"}]
    first, search, last = heard(read_deepseek(request, answer))
    assert [item.name for item in first.attachments] == ["b.txt", "plan.pdf"]
    assert (search.type, search.citations[0].url) == ("tool_result", "https://s.example.test")
    assert last.text == "done"


def test_deepseek_before_fragments() -> None:
    """Roles follow from reasoning, or from the place in the tree."""
    old = {"content": "q", "inserted_at": AT}
    nodes = [
        {"id": "1", "parent": "root", "message": old},
        {"id": "2", "parent": "1", "message": {"content": "a", "thinking_content": "hm", "inserted_at": AT}},
        {"id": "3", "parent": "2", "message": old},
        {"id": "4", "parent": "3", "message": {"content": "b", "inserted_at": AT}},
    ]
    assert [(event.event.role, event.event.text) for event in imported(read_deepseek(*nodes)).events] == [
        ("user", "q"), ("assistant", "hm"), ("assistant", "a"), ("user", "q"), ("assistant", "b"),
    ]  # fmt: skip


def test_deepseek_deep_trees_need_no_stack() -> None:
    nodes = [deepseek_node(str(n), str(n - 1) if n else "root", AT, ("REQUEST", f"m{n}")) for n in range(5000)]
    assert len(heard(read_deepseek(*nodes))) == 5000


def test_open_webui_follows_its_leaf() -> None:
    elements = read(OPEN_WEBUI, as_json([open_webui()]))
    assert told(elements) == [
        ("message", "user", "What is 15 * 17, ow-1?"),
        ("status", "assistant", "> 150 + 105"),
        ("message", "assistant", "255"),
        ("message", "assistant", "225"),
    ]
    assert heard(elements)[-1].branch_id == "a1"
    assert [skip.what for skip in skipped(elements)] == ["system prompt"]
    shown = read(OPEN_WEBUI, as_json([open_webui()]), include_hidden=True)
    assert ("status", "system", "Be exact.") in told(shown)


def test_open_webui_output_items() -> None:
    """Newer versions list reasoning, calls and words; the flat text repeats them."""
    chat = open_webui()
    chat["chat"]["history"]["messages"]["a2"] |= {
        "content": '<details type="reasoning"><summary>x</summary>no</details>'
        '<details type="tool_calls">y</details>18C.',
        "output": [
            {"type": "reasoning", "content": [{"type": "output_text", "text": "ask the tool"}]},
            {"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": '{"city":"Paris"}'},
            {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "18C"}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "18C."}]},
        ],
        "sources": [{"source": {"name": "W", "url": "https://w.example.test"}}],
    }
    live = [event for event in heard(read(OPEN_WEBUI, as_json([chat]))) if not event.branch_id]
    assert [(event.type, event.text) for event in live[1:]] == [
        ("status", "ask the tool"),
        ("tool_call", 'get_weather {"city":"Paris"}'),
        ("tool_result", "18C"),
        ("message", "18C."),
    ]
    assert live[2].tool_call_id == live[3].tool_call_id == "c1"
    assert live[4].citations[0].url == "https://w.example.test"


def test_open_webui_before_its_history() -> None:
    chat = {"id": "1", "chat": {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}}
    elements = read(OPEN_WEBUI, as_json([chat]))
    assert [event.text for event in heard(elements)] == ["a", "b"]
    assert not any(event.branch_id for event in heard(elements))


def test_libre_chat_follows_the_newest_line() -> None:
    elements = read(LIBRE, as_json(libre_chat()))
    assert told(elements) == [
        ("message", "user", "a story"),
        ("message", "assistant", "Long ago."),
        ("message", "assistant", "Once."),
    ]
    assert [event.labels for event in heard(elements)] == [[], ["unfinished"], []]
    assert heard(elements)[1].model == "gpt-4o"


def test_libre_chat_nested_and_listed_messages_are_the_same() -> None:
    listed = libre_chat()
    first, *others = listed["messages"]
    nested = {**listed, "recursive": True, "messages": [{**first, "children": [{**m, "children": []} for m in others]}]}
    named = {**listed, "messagesTree": nested["messages"]}
    del named["messages"]
    assert ids(read(LIBRE, as_json(nested))) == ids(read(LIBRE, as_json(named))) == ids(read(LIBRE, as_json(listed)))


def test_libre_chat_deep_nesting_is_named_not_raised() -> None:
    message: dict = libre_message("m0", None, "end", mine=True, at=AT)
    raw = as_json({**libre_chat(), "messages": ["HERE"]})
    nested = b'{"messageId":"m","children":[' * 20_000 + as_json(message) + b"]}" * 20_000
    elements = read(LIBRE, raw.replace(b'"HERE"', nested))
    assert [bad.reason for bad in rejected(elements)] == ["too-deep"]


def test_libre_chat_without_parents_is_one_line() -> None:
    messages = [libre_message(f"m{n}", None, str(n), mine=n % 2 == 0, at=AT) for n in range(4)]
    for message in messages:
        del message["parentMessageId"]
    elements = read(LIBRE, as_json({**libre_chat(), "messages": messages}))
    assert [event.text for event in heard(elements)] == ["0", "1", "2", "3"]
    assert not any(event.branch_id for event in heard(elements))


def test_libre_chat_parts() -> None:
    content = [
        {"type": "think", "think": "which tool"},
        {"type": "tool_call", "tool_call": {"id": "c1", "name": "search", "args": '{"q":1}', "output": "found"}},
        {"type": "text", "text": {"value": "Here."}},
        {"type": "error", "error": "cut off"},
    ]
    message = libre_message("m1", None, "", mine=False, at=AT, content=content)
    elements = read(LIBRE, as_json({**libre_chat(), "messages": [message]}))
    assert [(event.type, event.text) for event in heard(elements)] == [
        ("status", "which tool"),
        ("tool_call", 'search {"q":1}'),
        ("tool_result", "found"),
        ("status", "cut off"),
        ("message", "Here."),
    ]
