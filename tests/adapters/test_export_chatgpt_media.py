"""What came with a ChatGPT message is described once, without its bytes; what an answer cites leaves its text."""

from schemas.captured import CapturedEvent
from schemas.event import Citation
from tests.support.ai_exports import heard
from tests.support.chatgpt import assistant, chat, elements, rich, tool, user


def only(*messages: dict, **options) -> CapturedEvent:
    (event,) = heard(elements(chat(*messages), **options))
    return event


def parts(*found: object, **members) -> dict:
    return {"content_type": "multimodal_text", "parts": list(found), **members}


def image(key: str = "file_a", **members) -> dict:
    return {"content_type": "image_asset_pointer", "asset_pointer": f"sediment://{key}", "size_bytes": 9, **members}


def test_attachments_are_described_once() -> None:
    """An image stands among the parts and among the uploads."""
    uploads = [
        {"id": "file_a", "name": "fern.png", "size": 10, "mime_type": "image/png"},
        {"id": "file-b", "name": "plan.pdf", "size": 20, "mimeType": "application/pdf"},
        {"name": "nameless.txt"},
        {}, None, "x",
    ]  # fmt: skip
    event = only(user("m", parts(image("file_a"), "look"), metadata={"attachments": uploads}))
    assert [(a.kind, a.name, a.mime_type, a.url, a.size_bytes) for a in event.attachments] == [
        ("image", "fern.png", "image/png", "sediment://file_a", 9),
        ("file", "plan.pdf", "application/pdf", "file-service://file-b", 20),
        ("file", "nameless.txt", None, None, None),
    ]


def test_uploads_of_plain_text_messages_are_kept() -> None:
    event = only(user("m", "see", metadata={"attachments": [{"id": "file-1", "name": "a.txt", "size": 3}]}))
    assert [a.name for a in event.attachments] == ["a.txt"]


def test_voice_and_video_are_attachments() -> None:
    live = {
        "content_type": "real_time_user_audio_video_asset_pointer",
        "audio_asset_pointer": {"asset_pointer": "sediment://file_1", "format": "wav", "size_bytes": 1},
        "frames_asset_pointers": [image("file_2"), "sediment://file_3"],
        "video_container_asset_pointer": "sediment://file_4",
    }
    answer = {"content_type": "audio_asset_pointer", "asset_pointer": "sediment://file_5", "format": "wav"}
    event = only(user("m", parts(live, answer)))
    assert [(a.kind, a.name, a.mime_type) for a in event.attachments] == [
        ("audio", "file_1", "audio/wav"),
        ("video", "file_4", None),
        ("image", "file_2", None),
        ("image", "file_3", None),
        ("audio", "file_5", "audio/wav"),
    ]
    assert event.text.splitlines()[0] == "[audio: audio/wav]"


def test_pictures_of_a_program_are_attachments() -> None:
    shown = {"messages": [{"message_type": "image", "image_url": "file-service://file-9"}, {"message_type": "stream"}]}
    content = {"content_type": "execution_output", "text": "<<ImageDisplayed>>"}
    event = only(tool("m", "python", content, metadata={"aggregate_result": shown}))
    assert (event.text, [a.name for a in event.attachments]) == ("[image]", ["file-9"])


def test_citations_leave_the_text() -> None:
    (answer,) = [event for event in heard(elements(rich())) if event.message_id == "a1"]
    assert (answer.text, answer.citations) == (
        "A lady fern.",
        [Citation(url="https://fern.example.test", title="Ferns")],
    )


def test_older_citations_leave_the_text() -> None:
    cited = {"citations": [{"start_ix": 4, "end_ix": 14, "metadata": {"url": "https://o.example.test", "title": "O"}}]}
    event = only(assistant("m", "Yes【12†source】.", metadata=cited))
    assert (event.text, event.citations) == ("Yes.", [Citation(url="https://o.example.test", title="O")])


def test_a_quoted_page_is_cited() -> None:
    event = only(tool("m", "browser", {"content_type": "tether_quote", "text": "x", "url": "https://q", "title": "Q"}))
    assert event.citations == [Citation(url="https://q", title="Q")]
