"""Exports of Google's AI products as they are, built small."""

from typing import Any


def activity(
    title: str = "Prompted hello", time: str = "2026-03-09T17:15:00.000Z", *answers: str, **members: Any
) -> dict:
    record = {
        "header": "Gemini Apps",
        "title": title,
        "time": time,
        "products": ["Gemini Apps"],
        "activityControls": ["Gemini Apps Activity"],
        **members,
    }
    if answers:
        record["safeHtmlItem"] = [{"html": answer} for answer in answers]
    return record


def activity_cell(words: str, time: str, answer: str = "", product: str = "Gemini Apps") -> str:
    return (
        '<div class="outer-cell mdl-cell mdl-cell--12-col mdl-shadow--2dp"><div class="mdl-grid">'
        f'<div class="header-cell mdl-cell mdl-cell--12-col"><p class="mdl-typography--title">{product}<br></p></div>'
        f'<div class="content-cell mdl-cell mdl-cell--6-col mdl-typography--body-1">{words}<br>{time}<br>{answer}</div>'
        '<div class="content-cell mdl-cell mdl-cell--6-col mdl-typography--body-1 mdl-typography--text-right"></div>'
        '<div class="content-cell mdl-cell mdl-cell--12-col mdl-typography--caption"><b>Products:</b><br>&emsp;'
        f"{product}<br></div></div></div>"
    )


def activity_page(*cells: str) -> bytes:
    style = "<style>.mdl-grid{display:flex}</style>"
    head = f"<html><head><title>My Activity History</title>{style}</head>"
    return f'{head}<body><div class="mdl-grid">{"".join(cells)}</div></body></html>'.encode()


def gemini_conversation(key: str = "g-1") -> dict:
    return {
        "id": key,
        "title": "Bats",
        "createdTime": "2026-03-01T10:00:00Z",
        "messages": [
            {"author": "user", "content": f"How do bats steer, {key}?", "createTime": "2026-03-01T10:00:00Z"},
            {"author": "model", "content": "By echo.", "createTime": "2026-03-01T10:00:05Z"},
            {"author": "user", "content": "and in water?", "createTime": "2026-03-01T10:01:00Z"},
        ],
    }


def gemini_session(key: str = "s-1") -> dict:
    return {
        "sessionId": key,
        "title": "Bats",
        "startTime": "2026-03-01T10:00:00Z",
        "lastUpdated": "2026-03-01T10:01:00Z",
        "messages": [
            {"id": "m1", "timestamp": "2026-03-01T10:00:00Z", "type": "user", "content": [{"text": "hello"}]},
            {"id": "m2", "timestamp": "2026-03-01T10:00:05Z", "type": "gemini", "content": "hi",
             "model": "gemini-3-pro",
             "thoughts": [{"subject": "Greeting", "description": "be kind"}]},
        ],
    }  # fmt: skip


def workspace() -> dict:
    return {
        "title": "Plan",
        "creation_time": "2026-05-01T08:00:00.123456Z",
        "last_modification_time": "2026-05-01T08:10:00Z",
        "conversation_turns": [
            {"user_turn": {"prompt": "Plan a day", "turn_index": 0, "turn_last_modified": "2026-05-01T08:00:00Z"}},
            {"system_turn": {"text": [{"data": "Walk."}], "turn_index": 0, "turn_last_modified": "2026-05-01T08:00:09Z",
                             "images": [], "model_thoughts": [{"headline": "Idea", "description": "sun is out"}]}},
            {"system_turn": {"text": [{"data": "Swim.", "preamble": "Again:", "cards": [{"content": "a card"}]}],
                             "turn_index": 0, "turn_last_modified": "2026-05-01T08:01:00Z"}},
            {"user_turn": {"prompt": "oops", "turn_index": 1, "turn_last_modified": "2026-05-01T08:02:00Z",
                           "turn_deleted_time": "2026-05-01T08:03:00Z"}},
        ],
    }  # fmt: skip


def ai_studio(*chunks: dict) -> dict:
    return {
        "runSettings": {"model": "models/gemini-2.5-pro", "temperature": 1.0},
        "systemInstruction": {"text": "Be brief."},
        "chunkedPrompt": {
            "chunks": list(chunks)
            or [
                {"role": "user", "text": "Explain tides", "createTime": "2026-02-01T10:00:00.000Z"},
                {
                    "role": "model",
                    "text": "about the moon",
                    "isThought": True,
                    "parts": [{"text": "about", "thought": True}],
                },
                {"role": "model", "text": "The moon pulls.", "parts": [{"text": "The moon"}, {"text": " pulls."}]},
            ],
            "pendingInputs": [{"role": "user", "text": "an unsent draft"}],
        },
    }
