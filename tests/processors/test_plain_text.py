"""Promise: event texts hold no terminal sequences and no control characters, and lose no words (B21, B40, E25)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.processors.text import clean, clean_line, is_clean, shorten

UNWANTED = {chr(c) for c in range(32)} - {"\t", "\n"} | {"\x7f", "\x9b", "\x9d", "\x90", "\x98", "\x9e", "\x9f"}


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("\x1b[31mERR\x1b[0m pump\0 two\a down\n\tsee \x1b[1;38;5;208mlog\x1b[K.\b", "ERR pump two down\n\tsee log."),
        ("10%\r20%\r\ndone\r", "10%\n20%\ndone\n"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\ end", "link end"),
        ("\x1b]0;never closed\nnext", "0;never closed\nnext"),
        ("\x1bP1$r0m\x1b\\after", "after"),
        ("\x1b(B\x1b7\x1b=\x1b>text\x1bM", "text"),
        ("cut off \x1b[3", "cut off "),
        ("\x1b", ""),
        ("\x9b31mred\x9b0m", "red"),
        ("\x9bquoted", "quoted"),
        ("\x93curly\x94 caf\xe9 \x80", "\x93curly\x94 caf\xe9 \x80"),
        ("a\u2028b\u2029c\u0085d", "a\u2028b\u2029c\u0085d"),
        ("\u202emirror\u202c e\u0301", "\u202emirror\u202c e\u0301"),
        ("gate \udcb2 left \U0001f43e", "gate \ufffd left \U0001f43e"),
        ("\ud83d\udc3e", "\U0001f43e"),
        ("List<int> and <div>", "List<int> and <div>"),
        ("\ue200cite\ue202turn0\ue201", "\ue200cite\ue202turn0\ue201"),
        ("\x1b\x1b[31m[31m", "[31m"),
    ],
)  # fmt: skip
def test_terminal_sequences_go_and_words_stay(raw: str, text: str) -> None:
    assert clean(raw) == text


def test_clean_text_is_given_back_itself() -> None:
    for text in ("plain", "mit Umlaut ü, 中文, \U0001f43e", "tab\tand\nline"):
        assert clean(text) is text


noisy = st.text(
    st.one_of(st.sampled_from("\x1b\x9b\x9d\x07\r\n[];0m\\P\x00 a\ud83d\udc3e\x85"), st.characters()), max_size=60
)


@given(noisy)
def test_no_unwanted_character_survives_and_cleaning_again_changes_nothing(raw: str) -> None:
    text = clean(raw)
    assert not UNWANTED & set(text)
    assert not any("\ud800" <= c <= "\udfff" for c in text)
    assert is_clean(text)
    assert clean(text) == text
    text.encode()


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"], include_characters="\t\n")))
def test_text_without_controls_is_untouched(text: str) -> None:
    assert clean(text) == text


@given(noisy)
def test_a_title_is_one_line(raw: str) -> None:
    line = clean_line(raw)
    assert "\n" not in line
    assert line == line.strip() == clean_line(line)


@given(st.text(), st.integers(2, 50))
def test_a_shortened_text_is_one_line_within_the_limit(text: str, limit: int) -> None:
    line = shorten(text, limit)
    assert len(line) <= limit
    assert "\n" not in line
    assert line == " ".join(text.split()) or line.endswith("…")
