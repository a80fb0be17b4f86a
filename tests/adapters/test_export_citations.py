"""Citation markers leave whole, found by their delimiters; no word of the text is lost with them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.exports.citations import citations, entity_names, may_be_marked, without_markers
from schemas.event import Citation


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Owls.\ue200cite\ue202turn2search1\ue202turn2view0\ue201 Yes", "Owls. Yes"),
        ("cited, linkedin, linked; cite turn0search1", "cited, linkedin, linked; cite turn0search1"),
        ('near \ue200entity\ue202["place","Fenmoor","village"]\ue201.', "near Fenmoor."),
        ('\ue200product_entity\ue202["turn0product1","Lamp"]\ue201', "Lamp"),
        ('a \ue200entity\ue202["place"]\ue201b', "a b"),
        ("a \ue200entity\ue202{broken\ue201b", "a b"),
        ("\ue203a span\ue204\ue200cite\ue202turn0search0\ue201", "a span"),
        ("cut off\ue200cite\ue202turn0sea", "cut off"),
        ("cut off\ue200ci", "cut offci"),
        ("a \ue200 stray", "a  stray"),
        ("\ue200cite\ue202a \ue200cite\ue202b\ue201c", " c"),
        ("\ue200hidden\ue201x", "x"),
        ("See 【12†source】 and 【4:0†plan.pdf】.", "See  and ."),
        ("【重要】 お知らせ †", "【重要】 お知らせ †"),
        ("【not closed †", "【not closed †"),
        ("an icon \ue0b0 stays", "an icon \ue0b0 stays"),
    ],
)
def test_markers(text: str, shown: str) -> None:
    assert without_markers(text) == shown


def test_an_entity_that_is_not_json_is_named_by_the_references() -> None:
    marker = "\ue200entity\ue202turn0entity1\ue201"
    references = [{"matched_text": marker, "name": "Fenmoor"}, {"matched_text": 7}, None, "x"]
    assert without_markers(f"in {marker}!", entity_names(references)) == "in Fenmoor!"


@given(st.text(alphabet="ab \n†【】1\ue200\ue201\ue202\ue203\ue204["))
def test_no_delimiter_is_left_and_nothing_is_added(text: str) -> None:
    shown = without_markers(text)
    assert not any("\ue200" <= character <= "\ue204" for character in shown)
    assert len(shown) <= len(text)


@given(st.text(alphabet=st.characters(exclude_characters="\ue200\ue201\ue202\ue203\ue204【")))
def test_a_text_without_delimiters_is_left_alone(text: str) -> None:
    assert without_markers(text) == text


@pytest.mark.parametrize("size", [10_000, 200_000])
def test_hostile_texts_take_linear_time(size: int) -> None:
    """A quadratic pattern would run for minutes here, and into the time limit of the suite."""
    for text in ("\ue200" * size, "\ue200a\ue202" * size, "【†" * size, "【" * size + "†"):
        assert len(without_markers(text)) <= len(text)


@pytest.mark.parametrize("raw", ["\ue200".encode(), b"\\ue200", b"\\uE203", "】".encode(), b"\\u3011"])
def test_marked_bytes_are_known(raw: bytes) -> None:
    """Also an escape among letters that are written as they are: programs that rewrite exports leave both."""
    assert may_be_marked(b'{"a":"' + raw + b'"}')
    assert may_be_marked('{"b":"東京","a":"'.encode() + raw + b'"}')
    assert not may_be_marked('{"a":"東京 cite\\n「かぎ」"}'.encode())


@given(st.text(alphabet="a \n東é【†】\ue200\ue201\ue204"), st.booleans())
def test_a_text_with_something_to_remove_is_known_by_its_bytes(text: str, ascii_only: bool) -> None:
    if without_markers(text) != text:
        assert may_be_marked(json.dumps([text], ensure_ascii=ascii_only).encode())


def test_places_are_collected_once_wherever_they_stand() -> None:
    found = citations(
        [{"type": "grouped_webpages", "items": [{"url": "https://a", "title": None, "attribution": "A"}]},
         {"type": "sources_footnote", "sources": [{"url": "https://a", "title": "A page"}, {"url": "https://b"}]}],
        [{"start_ix": 1, "metadata": {"url": "https://c", "title": "C"}}],
        [{"domain": "d", "entries": [{"url": "https://d", "title": "D", "snippet": "x"}]}],
        [{"uuid": "u", "details": {"type": "web", "url": "https://e"}}],
    )  # fmt: skip
    assert found == [
        Citation(url="https://a", title="A"),
        Citation(url="https://b"),
        Citation(url="https://c", title="C"),
        Citation(url="https://d", title="D"),
        Citation(url="https://e"),
    ]


@pytest.mark.parametrize("odd", [None, 7, "x", [], [[]], [None], {"url": 7}, [{"items": 5}], {"url": ""}])
def test_odd_references_give_nothing(odd: object) -> None:
    assert citations(odd) == []
