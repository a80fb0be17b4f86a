"""Promise: the line of a usual event is byte for byte what the long way writes, or there is none."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.processors.drafts import drafts
from ingest.processors.normalize import is_blank
from ingest.processors.references import find_refs, may_refer
from ingest.processors.text import is_clean, may_be_unclean
from ingest.processors.times import first_iso
from ingest.processors.usual_lines import UsualLines
from schemas.captured import CapturedEvent, CapturedRecord, Thread
from schemas.event import Attachment, Citation, Refs, encode_typed
from schemas.ids import event_id

NOW = "2026-01-02T03:04:05.678Z"
MARKS = ["mark-id", "mark-text", "mark-message", "mark-parent", "mark-title", "mark-thread", "mark"]
NAMES = st.sampled_from([None, "gpt-4o", 'a "b" \\ c', "é 東京", " two  words ", "\x1b[1mbold", *MARKS])
WORDS = st.text(max_size=60) | st.sampled_from([
    "words", 'two\nlines\twith "quotes" and \\u0007', "\x9b1mred", "\x7f", "a\x00b", "TASK-A-1 is done", "see #12",
    "https://github.com/a/b/issues/3", "- a list\n- of words / of two", "[COLONY_SIGNAL:COMPLETE] run_id=r1 done",
    "a quoted `[COLONY_SIGNAL:START]`", "\u2028 \u00a0 \ufeff", " \n ", "", *MARKS,
])  # fmt: skip
THREADS = st.builds(
    Thread,
    provider=st.sampled_from(["chatgpt", "Claude ", "telegram", "mark"]),
    thread_id=st.sampled_from(["t1", "mark-thread", 'with "quotes"\n']),
    account=st.sampled_from([None, "Work", " "]),
    workspace=st.sampled_from([None, "w"]),
    channel_id=st.sampled_from([None, "c"]),
    title=NAMES,
)
EVENTS = st.builds(
    CapturedEvent,
    id=st.sampled_from([event_id("a"), "plain", 'quoted"id', "with space", "e" * 201, "\ud800"]),
    type=st.sampled_from(["message", "message", "message", "status", "tool_call"]),
    role=st.sampled_from(["user", "assistant", "human", "nobody", "tool"]),
    text=WORDS,
    times=st.just([1_700_000_000.5]),
    html=st.booleans(),
    branch_id=st.sampled_from([None, None, "b1"]),
    labels=st.lists(st.sampled_from(["archived", "mended", "x", *MARKS]), max_size=2),
    refs=st.sampled_from([None, None, Refs(task_ids=["T"])]),
    author_id=NAMES,
    message_id=NAMES,
    parent_message_id=NAMES,
    raw_type=NAMES,
    model=NAMES,
    tool_name=st.sampled_from([None, None, "bash"]),
    tool_call_id=st.sampled_from([None, None, "c1"]),
    attachments=st.sampled_from([[], [], [Attachment(kind="image")]]),
    citations=st.sampled_from([[], [], [Citation(url="u")]]),
)


def the_long_way(thread: Thread, event: CapturedEvent) -> bytes | None:
    """What `Normalizer` writes of an event; None where it writes no line."""
    draft = drafts(CapturedRecord(thread=thread, events=[event], captured_at=NOW))[0]
    try:
        return None if is_blank(draft) else encode_typed(draft)
    except ValueError:
        return None


@given(THREADS, st.lists(EVENTS, min_size=1, max_size=6))
def test_a_line_is_that_of_the_long_way(thread: Thread, events: list[CapturedEvent]) -> None:
    lines = UsualLines(thread, NOW).lines(events, [first_iso(event.times) or "" for event in events])
    for event, line in zip(events, lines, strict=True):
        assert line is None or line == the_long_way(thread, event)


PLAIN = {"role": "user", "text": "words\nand more", "times": [1_700_000_000], "message_id": "m", "type": "message"}


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"parent_message_id": "above"},
        {"role": "assistant", "model": "gpt-4o", "raw_type": "text", "parent_message_id": "above"},
        {"branch_id": "b", "parent_message_id": "above"},
        {"labels": ["archived"], "author_id": "Ana"},
        {"text": 'a hyphen-ated word / a slash, 東京 and \\ "quotes"'},
    ],
)
@pytest.mark.parametrize("title", [None, "A title"])
def test_what_is_usual_takes_the_quick_way(more: dict[str, object], title: str | None) -> None:
    """Else the promise above would hold of nothing."""
    thread = Thread(provider="chatgpt", thread_id="t", title=title)
    event = CapturedEvent(id=event_id(str(more)), **{**PLAIN, **more})
    other = CapturedEvent(id=event_id("other"), **PLAIN)
    lines = UsualLines(thread, NOW).lines([event, other], ["2023-11-14T22:13:20.000Z"] * 2)
    assert None not in lines
    assert lines == [the_long_way(thread, event), the_long_way(thread, other)]


@pytest.mark.parametrize(
    "unusual", [{"id": "with space"}, {"text": "half a pair \ud800"}, {"text": "see #12"}, {"branch_id": "\udc00"}]
)
def test_one_event_of_the_long_way_leaves_the_others_theirs(unusual: dict[str, object]) -> None:
    thread = Thread(provider="chatgpt", thread_id="t")
    usual = CapturedEvent(id=event_id("usual"), **PLAIN)
    other = CapturedEvent(**{"id": event_id("other"), **PLAIN, **unusual})
    lines = UsualLines(thread, NOW).lines([usual, other, usual], ["2023-11-14T22:13:20.000Z"] * 3)
    assert lines == [the_long_way(thread, usual), None, the_long_way(thread, usual)]


def test_an_event_over_the_size_limit_goes_the_long_way() -> None:
    event = CapturedEvent(id=event_id("long"), **{**PLAIN, "text": "x" * 1_000_000})
    assert UsualLines(Thread(provider="chatgpt", thread_id="t"), NOW).lines([event], [NOW]) == [None]


@given(st.text() | WORDS)
def test_a_text_is_clean_whose_json_is_beyond_doubt(text: str) -> None:
    try:
        encoded = encoded_text(text)
    except UnicodeEncodeError:
        return
    assert may_be_unclean(encoded) or is_clean(text)


@pytest.mark.parametrize("text", ["words", "two\nlines\twith tabs", 'a "quoted" word', "é 東京"])
def test_the_json_of_usual_words_is_beyond_doubt(text: str) -> None:
    assert not may_be_unclean(encoded_text(text))


@given(WORDS)
def test_no_reference_is_found_where_none_may_be(text: str) -> None:
    if not may_refer(encoded_text(text)):
        assert find_refs(text) is None


def encoded_text(text: str) -> bytes:
    """The JSON of a text as a line holds it."""
    return msgspec.json.encode(text)
