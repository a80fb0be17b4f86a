"""Promise: what a source delivers as HTML becomes the words a reader would see."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.processors.html_text import html_to_text
from tests.support.processors import event


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>One</p><p>Two <b>bold</b> end</p>", "One\n\nTwo bold end"),
        ("a<br>b<br/>c<br><br>d", "a\nb\nc\n\nd"),
        ("<ul><li>one</li><li>two</li></ul>after", "- one\n- two\n\nafter"),
        ("<h1>T</h1>text", "T\n\ntext"),
        ("x &lt; y &amp;&nbsp;&#39;z&#39;", "x < y &\xa0'z'"),
        ("<pre>  a\n    b\n</pre>", "a\n    b"),
        ("<script>alert(1)</script>seen<style>p{}</style>", "seen"),
        ("<!-- gone -->kept", "kept"),
        ("<a href='https://example.org'>the words</a>", "the words"),
        ("<img alt='a heron' src=x>", "a heron"),
        ("<table><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr></table>", "1 2\n3"),
        ("1 < 2 and 3 <4", "1 < 2 and 3 <4"),
        ("many   blanks\n and lines", "many blanks and lines"),
        ("<div>one</div><div>two</div>", "one\ntwo"),
        ("<!-- never closed", "<!-- never closed"),
        ("torn <b", "torn <b"),
        ("", ""),
    ],
)
def test_words_and_line_ends_are_a_browsers(html: str, text: str) -> None:
    assert html_to_text(html) == text


@given(st.text(st.sampled_from("<>/!-pbreul &;#39x\n\"'=\x1b"), max_size=200))
def test_any_text_is_read_without_an_error(html: str) -> None:
    assert len(html_to_text(html)) <= 3 * len(html)


@pytest.mark.parametrize("piece", ["<", "<!--", "<a ", "<p>", "</", "<pre>", "&", "<script>"])
def test_a_hundred_thousand_torn_tags_are_read(piece: str) -> None:
    """Nesting costs no recursion, and a missing end is looked for once."""
    assert isinstance(html_to_text(piece * 100_000), str)


def test_only_what_is_marked_as_html_is_read_as_html() -> None:
    assert event("<b>List</b>&lt;int&gt;", html=True).event.text == "List<int>"
    assert event("List<int> &amp; <div>").event.text == "List<int> &amp; <div>"


def test_controls_hidden_in_entities_do_not_survive() -> None:
    assert event("a&#x9b;31mb&#27;&#0;c", html=True).event.text == "a\u203a31mb\ufffdc"
