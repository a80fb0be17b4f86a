"""Whatever happens to one element of an export, those before it and behind it come out whole and in order."""

import io
import json
import tracemalloc

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adapters.files import json_damage, json_stream, json_values
from adapters.files.json_stream import Cut, Slice, TooLong, array_elements, json_elements

WORDS = st.sampled_from(["a", 'say "hi"', "a, b], c}, d", "{[", "back\\slash", "naïve 🎈", '{"id":', "x" * 300])


def conversation(number: int, texts: list[str]) -> dict:
    """As exports have them: an id, a title, and messages that begin with an id too."""
    nodes = {
        f"n{number}.{place}": {"id": f"n{number}.{place}", "message": {"id": place, "parts": [text]}, "children": []}
        for place, text in enumerate(texts)
    }
    return {"id": f"c{number}", "title": texts[0], "mapping": nodes, "messages": list(nodes.values())}


EXPORTS = st.lists(st.lists(WORDS, min_size=1, max_size=3), min_size=3, max_size=6).map(
    lambda chats: [conversation(number, texts) for number, texts in enumerate(chats)]
)


def damage(raw: bytes, kind: str, place: int) -> bytes:
    """Hurt an element somewhere behind its first key, which tells what it is."""
    place = 12 + place % max(1, len(raw) - 12)
    match kind:
        case "bracket lost":
            found = [index for index in range(12, len(raw)) if raw[index] in b"[]{}"]
            hit = found[place % len(found)]
            return raw[:hit] + raw[hit + 1 :]
        case "bracket added":
            return raw[:place] + b"}]{["[place % 4 : place % 4 + 1] + raw[place:]
        case "quote lost":
            found = [index for index in range(12, len(raw)) if raw[index] == ord('"')]
            hit = found[place % len(found)]
            return raw[:hit] + raw[hit + 1 :]
        case "torn":
            return raw[:place]
        case "hole":
            return raw[:place] + b"\0" * 50 + raw[place + 50 :]
        case _:
            return raw[:place] + b"nope" + raw[place:]


KINDS = ["bracket lost", "bracket added", "quote lost", "torn", "hole", "word"]


def scan(raw: bytes, chunk: int, read=json_elements) -> list:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_values, "CHUNK_BYTES", chunk)
        return list(read(io.BytesIO(raw)))


def whole(pieces: list) -> list[str]:
    found = []
    for piece in pieces:
        try:
            value = json.loads(piece.raw)
        except ValueError:
            continue
        if isinstance(value, dict) and "mapping" in value:
            found.append(value["id"])
    return found


@settings(max_examples=300, deadline=None)
@given(EXPORTS, st.sampled_from(KINDS), st.integers(0, 5000), st.integers(0, 5), st.integers(1, 4000), st.booleans())
def test_damage_costs_one_element(export, kind: str, place: int, which: int, chunk: int, indent: bool) -> None:
    """At any window size, in one line or indented; few pieces tell of it."""
    which %= len(export)
    elements = [json.dumps(value, indent=1 if indent else None, ensure_ascii=False).encode() for value in export]
    elements[which] = damage(elements[which], kind, place)
    pieces = scan(b"[" + b", ".join(elements) + b"]", chunk)
    others = [value["id"] for number, value in enumerate(export) if number != which]
    assert [name for name in whole(pieces) if not name.startswith(f"c{which}")] == others


@settings(deadline=None)
@given(EXPORTS, st.integers(1, 300), st.integers(0, 5))
def test_bytes_that_are_no_utf8_cost_nothing(export, chunk: int, which: int) -> None:
    """CESU-8 and stray bytes inside a string: the element is handed out, its decoder forgives (27)."""
    which %= len(export)
    elements = [json.dumps(value).encode() for value in export]
    elements[which] = elements[which].replace(b'"title": "', b'"title": "\xed\xa0\xbc\xed\xbe\x88\xff')
    assert [piece.raw for piece in scan(b"[" + b",".join(elements) + b"]", chunk)] == elements


@pytest.mark.parametrize("inside", [b'"\\ud800"', b"NaN", b'"a\x01b"', b"1e999"])
def test_what_decoders_forgive_is_no_damage(inside: bytes) -> None:
    elements = [b'{"id":1,"x":[{"id":2,"x":0}]}', b'{"id":2,"y":[{"id":3,"x":1},{"id":4,"x":' + inside + b"}]}", b"{}"]
    assert [piece.raw for piece in scan(b"[" + b",".join(elements) + b"]", 1000)] == elements


@pytest.mark.parametrize(
    ("raw", "good"),
    [
        (b'[{"id":1},{"id":2}],{"id":3}]', 3),
        (b'[{"id":1}}, {"id":2}]', 2),
        (b'[{"id":1}{"id":2}\n{"id":3}]', 3),
        (b'[{"id":1}][{"id":2}]', 2),
        (b'[{"id":1},,{"id":2},]', 2),
        (b'[{"id":1},"id":2},{"id":3}]', 2),
        (b'{"id":1}\n{"id":2}\n', 2),
        (b'\xef\xbb\xbf [{"id":1}]', 1),
        (b'[{"id":1}]\0\0\0', 1),
    ],
)
def test_brackets_and_commas_between_elements_cost_no_element(raw: bytes, good: int) -> None:
    pieces = scan(raw, 1000)
    assert sum(piece.raw.startswith(b'{"id":') and piece.raw.endswith(b"}") for piece in pieces) == good


@settings(deadline=None)
@given(st.binary(max_size=60), st.sampled_from([b"", b"[", b"{", b'{"a":']), st.integers(1, 20))
@example(b'"a":1}]', b"[{", 3)
def test_any_bytes_end_without_an_error(rest: bytes, begin: bytes, chunk: int) -> None:
    pieces = scan(begin + rest, chunk)
    assert all(isinstance(piece, Slice | TooLong | Cut) for piece in pieces)


@pytest.mark.parametrize(
    "unit", [b'{"a":[', b'{"a":"', b'{"a" 1},', b"[", b'{"a":1,"b":[1},', b'{"a":[1,{"a":2}', b'"', b"}", b"\\"]
)
def test_hostile_repetition_ends_in_bounded_memory(unit: bytes, monkeypatch) -> None:
    """Never a try for each brace from each brace."""
    for module in (json_stream, json_values, json_damage):
        monkeypatch.setattr(module, "MAX_ELEMENT_BYTES", 10_000)
    monkeypatch.setattr(json_values, "CHUNK_BYTES", 2_500)
    stream = io.BytesIO(b"[" + unit * (100_000 // len(unit)))
    tracemalloc.start()
    count = sum(1 for _ in array_elements(stream, 0))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count >= 1
    assert peak < 1_000_000


def test_elements_behind_one_that_is_too_long_come_out(monkeypatch) -> None:
    for module in (json_stream, json_values, json_damage):
        monkeypatch.setattr(module, "MAX_ELEMENT_BYTES", 100_000)
    monkeypatch.setattr(json_values, "CHUNK_BYTES", 10_000)
    endless = b'{"id":2,"title":"' + b"x" * 500_000
    for long in (endless + b'"}', endless, endless + b'","y":[1}'):
        raw = b'[{"id":1,"title":"a"},' + long + b',{"id":3,"title":"b"},{"id":4,"title":"c"}]'
        first, second, *rest = array_elements(io.BytesIO(raw), 0)
        assert first == Slice(1, b'{"id":1,"title":"a"}')
        assert isinstance(second, TooLong)
        assert (second.start, second.sample[:7]) == (22, b'{"id":2')
        assert [piece.raw for piece in rest] == [b'{"id":3,"title":"b"}', b'{"id":4,"title":"c"}']
