"""Exports of other AI providers as they are, built small."""

import io
import zipfile
from typing import Any


def grok_response(key: str, parent: str | None, sender: str, message: str, ms: int, **members: Any) -> dict:
    return {
        "response": {
            "_id": key,
            "conversation_id": "gk",
            "message": message,
            "sender": sender,
            "create_time": {"$date": {"$numberLong": str(ms)}},
            "parent_response_id": parent,
            **members,
        },
        "share_link": None,
    }


def grok_conversation(key: str = "gk-1") -> dict:
    return {
        "conversation": {
            "id": key,
            "title": "Volcano",
            "create_time": "2026-01-05T08:00:00Z",
            "leaf_response_id": None,
        },
        "responses": [
            grok_response(f"{key}-r1", None, "human", "Name one", 1767600000500, model="grok-4"),
            grok_response(f"{key}-r3", f"{key}-r1", "grok-3", "Hekla.", 1767600060000, thinking_trace="which one"),
            grok_response(f"{key}-r2", f"{key}-r1", "ASSISTANT", "Etna.", 1767600004000),
        ],
    }


def grok(*conversations: object) -> dict:
    return {"conversations": list(conversations), "projects": [], "tasks": [], "media_posts": []}


def perplexity_thread() -> dict:
    return {
        "metadata": {"thread_title": "Best route", "thread_id": "px-1", "thread_created_at": "2026-04-01T08:00:00Z"},
        "conversations": [
            {"index": 0, "uuid": "e1", "query": "Best route?", "answer": "The coast [1].", "model": "sonar",
             "timestamp": "2026-04-01T08:00:00Z", "sources": [{"title": "Map", "url": "https://map.example.test"}],
             "related_queries": ["And by rail?"]},
            {"index": 1, "uuid": "e2", "query": "And in snow?", "answer": "", "timestamp": "2026-04-01T08:05:00Z"},
        ],
    }  # fmt: skip


def perplexity_entries() -> dict:
    return {
        "status": "success",
        "entries": [
            {"uuid": "e1", "context_uuid": "px-2", "thread_title": "Rail", "query_str": "By rail?",
             "display_model": "sonar",
             "blocks": [{"markdown_block": {"chunks": ["Take ", "the train."]}},
                        {"web_result_block": {"web_results": [{"name": "Rail", "url": "https://rail.example.test"}]}}],
             "entry_created_datetime": "2026-04-02T08:00:00.000000"},
        ],
        "thread_metadata": {"title": "Rail", "created_at": "2026-04-02T08:00:00"},
    }  # fmt: skip


def perplexity_official(key: str = "px-3") -> dict:
    return {
        "context_uuid": key,
        "context_title": "Bread",
        "created_at": "2026-04-03T08:00:00Z",
        "mode": "CONCISE",
        "collection_uuid": None,
        "entries": [
            {"query": f"Best flour, {key}?", "answer": "Rye.", "mode": "CONCISE", "created_at": "2026-04-03T08:00:00Z",
             "query_status": "COMPLETED"},
            {"query": "And water?", "answer": None, "created_at": "2026-04-03T08:01:00Z", "query_status": "FAILED"},
        ],
    }  # fmt: skip


def meta(**members: Any) -> dict:
    return {
        "participants": [{"name": "Zo\u00c3\u00ab"}, {"name": "Meta AI"}],
        "messages": [
            {
                "sender_name": "Meta AI",
                "timestamp_ms": 1735689605123,
                "content": "Try \u00e2\u0080\u009ccaf\u00c3\u00a9\u00e2\u0080\u009d",
            },
            {"sender_name": "Zo\u00c3\u00ab", "timestamp_ms": 1735689600000, "content": "coffee?"},
            {"sender_name": "Zo\u00c3\u00ab", "timestamp_ms": 1735689500000, "photos": [{"uri": "photos/cup.jpg"}]},
        ],
        "title": "Meta AI",
        "thread_path": "inbox/metaai_123",
        **members,
    }


def deepseek_node(key: str, parent: str | None, time: str, *fragments: tuple[str, str], **members: Any) -> dict:
    message = {
        "files": [],
        "model": "deepseek-reasoner",
        "inserted_at": time,
        "fragments": [{"type": kind, "content": content} for kind, content in fragments],
        **members,
    }
    return {"id": key, "parent": parent, "children": [], "message": message}


def deepseek(key: str = "ds-1") -> dict:
    return {
        "id": key,
        "title": "Primes",
        "inserted_at": "2026-01-02T10:00:00.000000+08:00",
        "updated_at": "2026-01-02T10:05:00.000000+08:00",
        "mapping": {
            "root": {"id": "root", "parent": None, "children": ["1"], "message": None},
            "1": deepseek_node("1", "root", "2026-01-02T10:00:05.000000+08:00", ("REQUEST", "Is 7 prime?")),
            "2": deepseek_node("2", "1", "2026-01-02T10:00:04.000000+08:00", ("THINK", "7 = 7"), ("RESPONSE", "Yes.")),
            "3": deepseek_node("3", "1", "2026-01-02T10:01:00.000000+08:00", ("RESPONSE", "It is.")),
            "4": deepseek_node("4", "3", "2026-01-02T10:02:00.000000+08:00", ("REQUEST", "And 8?")),
        },
    }


def le_chat() -> list:
    base = {"version": 0, "chatId": "lc-1", "files": [], "canvas": [], "quotes": [], "reaction": "neutral"}
    return [
        {**base, "id": "m2", "role": "assistant", "content": "flat", "createdAt": "2026-06-01T09:00:05.000Z",
         "contentChunks": [
             {"type": "text", "text": "Let me look."},
             {"type": "tool_call", "name": "web_search", "publicArguments": '{"query":"rain"}',
              "publicResult": {"n": 1}},
             {"type": "text", "text": "It rains"},
             {"type": "reference", "referenceIds": [1]},
             {"type": "text", "text": "."},
         ]},
        {**base, "id": "m1", "role": "user", "content": "Does it rain?", "contentChunks": None,
         "createdAt": "2026-06-01T09:00:00.000Z", "files": [{"type": "image", "name": "sky.png"}]},
        {**base, "id": "m3", "role": "user", "content": "thanks", "contentChunks": None,
         "createdAt": "2026-06-01T09:01:00.000Z"},
    ]  # fmt: skip


def open_webui(key: str = "ow-1") -> dict:
    return {
        "id": key,
        "user_id": "u1",
        "title": "Product",
        "chat": {
            "title": "Product",
            "models": ["deepseek-r1"],
            "params": {"system": "Be exact."},
            "history": {
                "currentId": "a2",
                "messages": {
                    "u1": {"id": "u1", "parentId": None, "childrenIds": ["a1", "a2"], "role": "user",
                           "content": f"What is 15 * 17, {key}?", "timestamp": 1700000000},
                    "a1": {"id": "a1", "parentId": "u1", "childrenIds": [], "role": "assistant", "content": "225",
                           "model": "deepseek-r1", "timestamp": 1700000020},
                    "a2": {"id": "a2", "parentId": "u1", "childrenIds": [], "role": "assistant", "model": "deepseek-r1",
                           "content": '<details type="reasoning" done="true"><summary>Thought</summary>'
                                      "&gt; 150 + 105</details>255",
                           "timestamp": 1700000010},
                },
            },
        },
        "created_at": 1700000000,
        "updated_at": 1700000010,
    }  # fmt: skip


def libre_message(key: str, parent: str | None, text: str, *, mine: bool, at: str, **members: Any) -> dict:
    return {
        "messageId": key,
        "parentMessageId": parent,
        "text": text,
        "sender": "User" if mine else "GPT-4",
        "isCreatedByUser": mine,
        "createdAt": at,
        "model": None if mine else "gpt-4o",
        **members,
    }


def libre_chat() -> dict:
    return {
        "conversationId": "lb-1",
        "endpoint": "openAI",
        "title": "Original",
        "exportAt": "08:12:16 GMT-0400 (Eastern Daylight Time)",
        "branches": True,
        "recursive": False,
        "options": {"model": "gpt-4o"},
        "messages": [
            libre_message(
                "m1", "00000000-0000-0000-0000-000000000000", "a story", mine=True, at="2024-05-28T18:08:55.014Z"
            ),
            libre_message("m2", "m1", "Once.", mine=False, at="2024-05-28T18:08:56.000Z"),
            libre_message("m3", "m1", "Long ago.", mine=False, at="2024-05-28T18:09:27.000Z", unfinished=True),
        ],
    }


def lm_studio() -> dict:
    def user(words: str) -> dict:
        return {"type": "singleStep", "role": "user", "content": [{"type": "text", "text": words}]}

    def block(words: str, style: str | None) -> dict:
        content = [{"type": "text", "text": words}]
        shown = {"type": style} if style else None
        return {"type": "contentBlock", "content": content, "style": shown, "genInfo": {"identifier": "qwen3-8b"}}

    def assistant(*steps: tuple[str, str | None]) -> dict:
        return {"type": "multiStep", "role": "assistant", "steps": [block(words, style) for words, style in steps]}

    return {
        "name": "Greeting",
        "pinned": False,
        "createdAt": 1754300000000,
        "systemPrompt": "Be kind.",
        "messages": [
            {"versions": [user("hello")], "currentlySelected": 0},
            {"versions": [assistant(("Hi.", None)), assistant(("let me see", "thinking"), ("Hello!", None))],
             "currentlySelected": 1},
        ],
    }  # fmt: skip


def clip(**members: Any) -> dict:
    return {
        "schema": "ai-chat-extractor/conversation@2",
        "site": "claude",
        "title": "Clip",
        "url": "https://claude.ai/chat/11111111-2222-4333-8444-555555555555",
        "exported_at": "2026-07-18T10:32:00.000Z",
        "content_format": "markdown",
        "message_count": 2,
        "messages": [
            {"index": 0, "role": "user", "content": "Show a table",
             "contents": [{"type": "text", "text": "Show a table"}]},
            {"index": 1, "role": "assistant", "content": "> **Thinking** (2s)\n> plan first\n\nIntro", "contents": [
                {"type": "thinking", "text": "plan first"}, {"type": "text", "text": "Intro"},
                {"type": "code", "text": "x = 1", "language": "python"},
                {"type": "table", "headers": ["a", "b"], "rows": [["1", "2"]]},
                {"type": "image", "url": "https://i.example.test/1.png", "alt": "", "caption": "c"}]},
        ],
        **members,
    }  # fmt: skip


COPILOT = (
    '\ufeff"Conversation","Time","Author","Message"\r\n'
    '"Tent repair","2026-02-17T14:40:02","AI","Use seam sealer,\nthen let it dry."\r\n'
    '"Tent repair","2026-02-17T14:40:02","Human","How do I fix ""the"" seam?"\r\n'
    '"Soup","2026-02-16T10:00:00","AI","Leek."\r\n'
    '"Soup","2026-02-16T10:00:00","Human","A soup?"\r\n'
).encode()


def workbook() -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        for name in ("[Content_Types].xml", "_rels/.rels", "xl/workbook.xml", "xl/worksheets/sheet1.xml"):
            archive.writestr(name, "<x/>")
    return raw.getvalue()
