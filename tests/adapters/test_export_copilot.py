"""Copilot's CSV files: every form of them, rows oldest first with the person before the answer, bad rows alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.contract import PermanentSourceError
from tests.support.ai_exports import assert_conserved, heard, ids, read, rejected, skipped, told
from tests.support.ai_others import COPILOT
from tests.support.ai_samples import READERS

READER = READERS["Copilot activity"]
ROWS = [
    ("message", "Human", "A soup?"),
    ("message", "AI", "Leek."),
    ("message", "Human", 'How do I fix "the" seam?'),
    ("message", "AI", "Use seam sealer,\nthen let it dry."),
]
PLAIN = COPILOT.decode("utf-8-sig")
FORMS = {
    "with a mark": COPILOT,
    "without a mark": PLAIN.encode(),
    "UTF-16": PLAIN.encode("utf-16"),
    "UTF-16 the other way": b"\xfe\xff" + PLAIN.encode("utf-16-be"),
    "newlines alone": PLAIN.replace("\r\n", "\n").encode(),
    "semicolons": PLAIN.replace('","', '";"').encode(),
    "tabs": PLAIN.replace('","', '"\t"').encode(),
    "user for Human": PLAIN.replace('"Human"', '"user"').encode(),
}


def csv(*rows: str, header: str = "Conversation,Time,Author,Message") -> bytes:
    return "\n".join([header, *rows]).encode()


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_rows(form: str) -> None:
    elements = read(READER, FORMS[form])
    assert told(elements) == ROWS
    assert ids(elements) == ids(read(READER, COPILOT))
    assert {label for event in heard(elements) for label in event.labels} == {"time-zone-assumed"}


def test_a_persons_zone_is_used_and_changes_no_id() -> None:
    there = read(READER, COPILOT, timezone="America/New_York")
    assert heard(there)[0].times == ["2026-02-16T10:00:00-05:00"]
    assert not heard(there)[0].labels
    assert ids(there) == ids(read(READER, COPILOT))


def test_a_title_that_comes_back_is_another_conversation() -> None:
    """Known by the time of its first row, so that later rows change nothing."""
    first = csv("Soup,2026-02-16T10:00:00,Human,a", "Soup,2026-02-16T20:00:00,Human,b")
    later = first + b"\nSoup,2026-05-16T10:00:00,Human,c"
    threads = [element.thread.thread_id for element in read(READER, later)]
    assert threads[0] == threads[1] != threads[2]
    assert threads[:2] == [element.thread.thread_id for element in read(READER, first)]


@pytest.mark.parametrize(
    ("time", "iso"),
    [
        ("2/17/2026 14:36:11 +00:00", "2026-02-17T14:36:11+00:00"),
        ("2/7/2026 2:36:11 PM +00:00", "2026-02-07T14:36:11+00:00"),
        ("2/7/2026 2:36:11 -05:00", "2026-02-07T02:36:11-05:00"),
    ],
)
def test_times_of_the_chat_files(time: str, iso: str) -> None:
    raw = csv(f"{time},hi,user,Chat", header="CreatedAt,MessageContent,Author,ChatName")
    assert heard(read(READER, raw))[0].times == [iso]


def test_days_come_first_where_some_row_says_so() -> None:
    raw = csv("13/2/2026 10:00:00 +00:00,hi,user,Chat", "3/2/2026 10:00:00 +00:00,ho,user,Chat",
              header="CreatedAt,MessageContent,Author,ChatName")  # fmt: skip
    assert [event.times for event in heard(read(READER, raw))] == [
        ["2026-02-03T10:00:00+00:00"],
        ["2026-02-13T10:00:00+00:00"],
    ]


def test_prompts_of_windows_apps() -> None:
    raw = csv("2026-02-16T10:00:00Z,Edge,hello", header="Timestamp,ClientApp,Prompt")
    (element,) = read(READER, raw)
    assert (element.event.role, element.event.text, element.thread.title) == ("Human", "hello", "Edge")


def test_an_extra_column_is_no_harm() -> None:
    raw = csv("Soup,2026-02-16T10:00:00,x,Human,a", header="Conversation,Time,Extra,Author,Message")
    assert told(read(READER, raw)) == [("message", "Human", "a")]


def test_bad_rows_cost_only_themselves() -> None:
    """Too few cells, an open quotation, a time that is none."""
    raw = csv("Soup,2026-02-16T10:00:00,Human,a", "Soup,2026", 'Soup,2026-02-16T11:00:00,Human,"open',
              "Soup,2026-02-16T12:00:00,Human,b", "Soup,yesterday,Human,c",
              "Soup,2026-02-16T13:00:00,Human, ")  # fmt: skip
    elements = read(READER, raw)
    assert sorted(event.text for event in heard(elements)) == ["a", "b", "c"]
    assert [bad.reason for bad in rejected(elements)] == ["malformed-row", "malformed-row"]
    assert len(skipped(elements)) == 1


def test_bytes_of_windows_1252_are_read() -> None:
    raw = csv("Caf\u00e9,2026-02-16T10:00:00,Human,na\u00efve").decode().encode("cp1252")
    (element,) = read(READER, raw)
    assert (element.thread.title, element.event.text) == ("Café", "naïve")


@given(st.lists(st.sampled_from(['"', ",", "\n", "x", ";", "\r\n", "2026-02-16T10:00:00"]), max_size=20))
def test_any_rows_are_read_without_an_error(pieces: list[str]) -> None:
    elements = read(READER, csv("Soup,2026-02-16T10:00:00,Human,first", "".join(pieces)))
    assert "first" in [event.text for event in heard(elements)] or rejected(elements)
    assert_conserved(elements)


@pytest.mark.parametrize("header", [b"Name,Price", b"Conversation,Ti\xffme,Author,Message", b""])
def test_a_file_without_the_columns_is_named_as_a_whole(header: bytes) -> None:
    """Asked for by name, or damaged in its first row."""
    with pytest.raises(PermanentSourceError, match="columns of a Copilot export"):
        read(READER, header + b"\na,2026-01-01T00:00:00,Human,hi\n")
