"""One export of each kind, and further shapes of the same kinds."""

import json

from adapters.contract import Reader
from adapters.exports import (
    aistudio,
    clipper,
    copilot,
    deepseek,
    gemini_activity,
    gemini_activity_html,
    gemini_conversations,
    gemini_stubs,
    grok,
    le_chat,
    libre_chat,
    lm_studio,
    meta_ai,
    open_webui,
    perplexity,
)
from tests.support import ai_google as google
from tests.support import ai_others as others
from tests.support.ai_exports import as_json

OTHER_PRODUCT = {"header": "YouTube", "products": ["YouTube"], "activityControls": ["YouTube watch history"]}
KOREAN = {"header": "Gemini \uc571", "products": ["Gemini \uc571"]}
BARD = {"header": "Bard", "products": ["Bard"]}
BETWEEN_PEOPLE = others.meta(
    participants=[{"name": "A"}, {"name": "B"}],
    messages=[{"sender_name": "B", "timestamp_ms": 1, "content": "x"}],
    title="B",
)
NESTED = {
    **others.libre_chat(),
    "messages": [{**others.libre_message("m1", None, "a", mine=True, at="2024-05-28T18:08:55Z"), "children": []}],
}
FLAT_RESPONSES = {"id": "x", "title": "t", "responses": [{"_id": "r", "sender": "human", "message": "m"}]}
OLD_CHAT = {"id": "1", "title": "t", "chat": {"messages": [{"role": "user", "content": "x"}]}}
PROMPT_CELL = google.activity_cell("Prompted\u00a0hello", "Jul 3, 2026, 12:05:09\u202fAM GMT+05:30", "<p>hi</p>")
OTHER_CELL = google.activity_cell("Watched\u00a0rain", "Jul 3, 2026, 12:05:09\u202fAM UTC", product="YouTube")

PRETTY = json.dumps(others.grok(others.grok_conversation()), indent=1).encode()

SAMPLES: dict[str, tuple[str, bytes]] = {
    "Gemini activity": (
        "MyActivity.json",
        as_json([google.activity("Prompted hello", "2026-03-09T17:15:00Z", "<p>x</p>")]),
    ),
    "Google activity without Gemini": ("MyActivity.json", as_json([google.activity("Watched rain", **OTHER_PRODUCT)])),
    "Gemini activity page": ("MyActivity.html", google.activity_page(PROMPT_CELL)),
    "Google activity page without Gemini": ("MyActivity.html", google.activity_page(OTHER_CELL)),
    "Gemini Gems or scheduled actions": ("gemini_gems_data.html", b"<div></div>"),
    "Gemini conversation": ("chat.json", as_json(google.gemini_conversation())),
    "Gemini in Workspace conversation": ("conversation_1.txt", as_json(google.workspace())),
    "AI Studio prompt": ("Explain tides", as_json(google.ai_studio())),
    "AI Studio index": ("applet_access_history.json", as_json({"applets": []})),
    "Copilot activity": ("copilot-activity-history.csv", others.COPILOT),
    "Grok export": ("prod-grok-backend.json", as_json(others.grok(others.grok_conversation()))),
    "Perplexity export": ("conversations-1.json", as_json({"conversations": [others.perplexity_official()]})),
    "Perplexity thread": ("thread.json", as_json(others.perplexity_thread())),
    "Excel workbook": ("user-data-1.xlsx", others.workbook()),
    "Meta AI thread": ("message_1.json", as_json(others.meta())),
    "Messenger thread between people": ("message_1.json", as_json(BETWEEN_PEOPLE)),
    "DeepSeek export": ("conversations.json", as_json([others.deepseek()])),
    "Le Chat export": ("chat-lc-1.json", as_json(others.le_chat())),
    "Open WebUI export": ("chat-export.json", as_json([others.open_webui()])),
    "LibreChat export": ("Original.json", as_json(others.libre_chat())),
    "LM Studio conversation": ("1.conversation.json", as_json(others.lm_studio())),
    "AI Chat Clipper clip": ("clip.json", as_json(others.clip())),
}
"""One file of each kind with a name it may have, by the name of the reader that takes it."""

VARIANTS: dict[str, tuple[str, bytes]] = {
    "a web exporter's session": ("Gemini conversation", as_json(google.gemini_session())),
    "an array of Gemini conversations": ("Gemini conversation", as_json([google.gemini_conversation()])),
    "localised activity": ("Gemini activity", as_json([google.activity("x", **KOREAN)])),
    "activity of Bard": ("Gemini activity", as_json([google.activity("Asked Bard: x", **BARD)])),
    "Copilot chats": ("Copilot activity", b"CreatedAt,MessageContent,Author,ChatName\n"),
    "Copilot prompts of Windows": ("Copilot activity", b"Timestamp,ClientApp,Prompt\r\n"),
    "Copilot with semicolons": ("Copilot activity", b"Conversation;Time;Author;Message\n"),
    "Copilot in UTF-16": ("Copilot activity", others.COPILOT.decode("utf-8-sig").encode("utf-16")),
    "flat responses": ("Grok export", as_json([FLAT_RESPONSES])),
    "entries of Perplexity": ("Perplexity thread", as_json(others.perplexity_entries())),
    "a bare array of Perplexity": ("Perplexity export", as_json([others.perplexity_official()])),
    "nested messages": ("LibreChat export", as_json(NESTED)),
    "an old flat Open WebUI chat": ("Open WebUI export", as_json([OLD_CHAT])),
    "another version of a clip": (
        "AI Chat Clipper clip",
        as_json(others.clip(schema="ai-chat-extractor/conversation@3")),
    ),
    "pretty, with a mark": (
        "Grok export",
        b"\xef\xbb\xbf" + json.dumps(others.grok(others.grok_conversation()), indent=1).encode(),
    ),
}
"""Further shapes of the same kinds, by the name of the reader that takes them."""

READERS: dict[str, Reader] = {
    reader.name: reader
    for reader in (
        gemini_activity.GeminiActivityReader(),
        gemini_activity.OtherActivityReader(),
        gemini_activity_html.GeminiActivityPageReader(),
        gemini_activity_html.OtherActivityPageReader(),
        gemini_stubs.GeminiPagesReader(),
        gemini_conversations.GeminiConversationReader(),
        gemini_conversations.GeminiWorkspaceReader(),
        aistudio.AiStudioReader(),
        aistudio.AiStudioIndexReader(),
        copilot.CopilotReader(),
        grok.GrokReader(),
        perplexity.PerplexityReader(),
        perplexity.PerplexityThreadReader(),
        perplexity.WorkbookReader(),
        meta_ai.MetaReader(),
        meta_ai.MetaPeopleReader(),
        deepseek.DeepSeekReader(),
        le_chat.LeChatReader(),
        open_webui.OpenWebUiReader(),
        libre_chat.LibreChatReader(),
        lm_studio.LmStudioReader(),
        clipper.ClipperReader(),
    )
}
