"""Gemini's activity as a web page: cells cut apart, local times read, unknown zones told."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.contract import PermanentSourceError
from adapters.exports import html_cells
from adapters.exports.local_time import Clock, read_local
from tests.support.ai_exports import assert_conserved, heard, ids, imported, read, rejected, skipped, told, warned
from tests.support.ai_google import activity_cell, activity_page
from tests.support.ai_samples import READERS

READER = READERS["Gemini activity page"]
ENGLISH = "Jul 3, 2026, 12:05:09\u202fAM UTC"


def read_page(*cells: str, **options) -> list:
    return read(READER, activity_page(*cells), "MyActivity.html", **options)


@pytest.mark.parametrize(
    ("words", "iso", "labels"),
    [
        ("Jul 3, 2026, 12:05:09\u202fAM GMT+05:30", "2026-07-03T00:05:09+05:30", []),
        ("Jul 3, 2026, 12:05:09 PM GMT-7", "2026-07-03T12:05:09-07:00", []),
        ("18.04.2026, 17:38:51 MESZ", "2026-04-18T17:38:51+02:00", []),
        ("4 juli 2026 09:15:00 CEST", "2026-07-04T09:15:00+02:00", []),
        ("4 juil. 2026, 09:15:00 UTC+2", "2026-07-04T09:15:00+02:00", []),
        ("4 juin 2026, 09:15:00 CEST", "2026-06-04T09:15:00+02:00", []),
        ("4 de jul. de 2026, 09:15:00 BRT", "2026-07-04T09:15:00-03:00", []),
        ("2026/07/04 9:15:00 JST", "2026-07-04T09:15:00+09:00", []),
        ("2026. 7. 4. 오후 9:15:00 KST", "2026-07-04T21:15:00+09:00", []),
        ("04/07/2026, 09:15:00 UTC", "2026-07-04T09:15:00+00:00", []),
        ("Jul 3, 2026, 12:05:09 AM IST", "2026-07-03T00:05:09+00:00", ["time-zone-assumed"]),
        ("Jul 3, 2026, 12:05:09 AM", "2026-07-03T00:05:09+00:00", ["time-zone-assumed"]),
    ],
)
def test_local_times(words: str, iso: str, labels: list[str]) -> None:
    local = read_local(words)
    assert local
    assert Clock(None).place(local) == (iso, labels)


@pytest.mark.parametrize(
    "words",
    ["", "hello", "Meet me on 4 Jul 2026 at the bank, 09:15:00", "4 jui 2026 09:15:00", "31 Feb 2026 09:15:00",
     "4 Jul 2026", "09:15:00", "4 Jul 2026 25:15:00", "4 Jul 2026 09:15:00 when", "1 2 3 4 2026 09:15:00"],
)  # fmt: skip
def test_other_words_are_no_time(words: str) -> None:
    assert read_local(words) is None


@given(st.text(alphabet="0123456789:./, AMPmJulGT+-\u202f년", max_size=90))
def test_reading_a_time_never_raises(words: str) -> None:
    local = read_local(words)
    assert local is None or Clock("Europe/Berlin").place(local)[0]


def test_cells_are_read_oldest_first() -> None:
    elements = read_page(
        activity_cell("Prompted\u00a0second", "Jul 4, 2026, 1:00:00\u202fPM UTC", "<p>b</p>"),
        activity_cell("Prompted\u00a0first<br>line two", ENGLISH, "<p>a</p><ul><li>x</li></ul>"),
    )
    assert [event.event.text for event in imported(elements).events] == ["first\nline two", "a\n\n- x", "second", "b"]
    assert heard(elements)[0].times == ["2026-07-03T00:05:09+00:00"]


def test_answers_keep_their_inner_blocks() -> None:
    """A block inside an answer, or one end tag too many, does not end it (PAM 4.4)."""
    answer = "<div><p>one</p></div></div><pre>a &lt;b&gt;\n  c</pre><p>last</p>"
    (_, event) = imported(read_page(activity_cell("Prompted\u00a0x", ENGLISH, answer))).events
    assert event.event.text == "one\n\na <b>\n  c\n\nlast"


def test_attachments_stand_before_the_time() -> None:
    words = 'Prompted\u00a0look<br>Attached 1 file.<br>-\u00a0 <a href="cup.png">cup.png</a>'
    (prompt,) = heard(read_page(activity_cell(words, ENGLISH)))
    assert prompt.text == "look"
    assert [(item.name, item.url) for item in prompt.attachments] == [("cup.png", "cup.png")]


def test_what_nobody_said_and_other_products_are_counted() -> None:
    elements = read_page(
        activity_cell("Used\u00a0Gemini Apps", ENGLISH),
        activity_cell("Watched\u00a0rain", ENGLISH, product="YouTube"),
        activity_cell("Prompted\u00a0x", ENGLISH),
    )
    assert sorted(skip.what for skip in skipped(elements)) == ["activity of another product", "activity: Used"]
    assert told(elements) == [("message", "user", "x")]


def test_a_zone_of_two_meanings_is_told_and_a_persons_zone_used() -> None:
    cell = activity_cell("Prompted\u00a0x", "Jul 3, 2026, 12:05:09\u202fAM IST")
    assumed, known = read_page(cell), read_page(cell, timezone="Asia/Kolkata")
    assert heard(assumed)[0].labels == ["time-zone-assumed"]
    assert any("'IST'" in message for message in warned(assumed))
    assert heard(known)[0].times == ["2026-07-03T00:05:09+05:30"]
    assert ids(assumed) == ids(known)


def test_a_zone_that_does_not_exist_is_refused() -> None:
    with pytest.raises(PermanentSourceError, match="Mars"):
        read_page(activity_cell("Prompted\u00a0x", ENGLISH), timezone="Mars/Base")


def test_a_page_says_that_its_json_is_better() -> None:
    assert READER.fallback
    assert any("JSON" in message for message in warned(read_page()))


def test_cells_across_chunks_and_too_long_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html_cells, "_CHUNK_BYTES", 100)
    monkeypatch.setattr(html_cells, "MAX_CELL_BYTES", 2000)
    page = [activity_cell(f"Prompted\u00a0{number}", ENGLISH, "<p>a</p>") for number in range(5)]
    page[2] = activity_cell("Prompted\u00a02", ENGLISH, "x" * 3000)
    elements = read_page(*page)
    assert [event.text for event in heard(elements) if event.role == "user"] == ["0", "1", "3", "4"]
    assert [bad.reason for bad in rejected(elements)] == ["element-too-long"]


@given(st.text(alphabet="<>/divabr =\"'&;!-x", max_size=60), st.integers(0, 2))
def test_any_markup_costs_at_most_its_cell(markup: str, place: int) -> None:
    cells = [activity_cell(f"Prompted\u00a0{number}", ENGLISH, "<p>a</p>") for number in range(3)]
    good = set(ids(read_page(*(cell for number, cell in enumerate(cells) if number != place))))
    cells[place] = activity_cell(markup, ENGLISH, markup)
    elements = read_page(*cells)
    assert good <= set(ids(elements))
    assert_conserved(elements)


def test_cells_find_their_places() -> None:
    page = activity_page(activity_cell("a", ENGLISH), activity_cell("b", ENGLISH))
    found = list(html_cells.cells(io.BytesIO(page)))
    assert all(page[cell.start :].startswith(cell.raw) for cell in found if isinstance(cell, html_cells.Cell))
    assert len(found) == 2


@pytest.mark.parametrize("loose", ["<a", "<!--", "<div ", "<!", "</", "<a b=\"'", "&#"])
def test_tags_that_never_end_are_words_and_read_in_linear_time(loose: str) -> None:
    """The standard parser alone would need hours for this cell."""
    (_, event) = heard(read_page(activity_cell("Prompted\u00a0x", ENGLISH, loose * 100_000)))
    assert len(event.text) >= 100_000
