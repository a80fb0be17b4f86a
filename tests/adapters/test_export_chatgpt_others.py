"""What lies beside ChatGPT's conversations: a page that repeats them, read at need; the rest is known, passed over."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.contract import PermanentSourceError
from adapters.exports.chatgpt_html import CHUNK_BYTES, ChatGPTPageReader
from adapters.exports.chatgpt_sidecars import account, feedback, group_chats, shared_links
from tests.support.ai_exports import as_json, assert_conserved, heard, ids, read, recognises, rejected, warned
from tests.support.chatgpt import READER, assistant, chat, rich, user

PAGE = ChatGPTPageReader()
DATA = [chat(user("u1", "one ]; <b>"), assistant("a1", "1"), key="c-1"), rich("c-2")]


def page(data: bytes, before: bytes = b"", after: bytes = b"") -> bytes:
    return (
        b"<!DOCTYPE html>\n<html><head><style>a{}</style><script>"
        + before
        + b"\nvar jsonData = "
        + data
        + b";\n"
        + after
        + b'\nvar assetsJson = {"file-1": "x]"};\nfunction f() { return [jsonData[0]]; }</script>'
    )


def test_a_page_gives_what_conversations_json_gives() -> None:
    raw = page(as_json(DATA))
    assert recognises(PAGE, raw)
    found = read(PAGE, raw)
    assert ids(found) == ids(read(READER, as_json(DATA)))
    assert not rejected(found)


def test_a_page_is_only_a_way_out() -> None:
    assert PAGE.fallback
    assert PAGE.provider == READER.provider


def test_the_data_may_stand_behind_a_long_index_of_files() -> None:
    before = b'var assetsJson = {"a": "' + b"x" * (CHUNK_BYTES - 30) + b'"};'
    assert len(heard(read(PAGE, page(as_json(DATA), before)))) == len(heard(read(READER, as_json(DATA))))


def test_data_that_is_no_strict_json_costs_only_its_place() -> None:
    raw = as_json([DATA[0], {"id": "c-bad", "mapping": "@@"}, DATA[0] | {"id": "c-3", "conversation_id": "c-3"}])
    found = read(PAGE, page(raw.replace(b'"@@"', b"undefined")))
    assert len(heard(found)) == 4
    assert rejected(found)


def test_a_page_without_data_fails_with_advice() -> None:
    with pytest.raises(PermanentSourceError, match=r"conversations\.json"):
        read(PAGE, b"<html><script>var assetsJson = {};</script></html>")


@pytest.mark.parametrize("raw", [b"", b"<html></html>", b"var jsonData = [];", b'{"jsonData": []}', as_json(DATA)])
def test_other_pages_are_not_taken(raw: bytes) -> None:
    assert not recognises(PAGE, raw)


@given(st.integers(0, 1000))
def test_a_page_cut_anywhere_is_counted(cut: int) -> None:
    whole = page(as_json(DATA))
    start = whole.index(b"jsonData = [") + 12
    assert_conserved(read(PAGE, whole[: start + cut]))


SIDECARS = {
    "shared_conversations.json": (
        shared_links(),
        [{"id": "s", "conversation_id": "c", "title": "t", "is_anonymous": True}],
    ),
    "message_feedback.json": (feedback(), [{"id": "f", "conversation_id": "c", "user_id": "u", "rating": "thumbs_up"}]),
    "user.json": (account(), {"id": "u", "email": "a@example.test", "chatgpt_plus_user": True, "birth_year": 1980}),
    "group_chats.json": (group_chats(), {"chats": []}),
}


@pytest.mark.parametrize("name", SIDECARS)
def test_files_beside_are_known_and_say_what_to_import(name: str) -> None:
    reader, value = SIDECARS[name]
    raw = as_json(value)
    assert recognises(reader, raw, "any.name")
    (message,) = warned(read(reader, raw))
    assert reader.name in message
    assert "conversations.json" in message
    assert [other for other, (them, _) in SIDECARS.items() if recognises(them, raw)] == [name]


@pytest.mark.parametrize(
    "value", [DATA, DATA[0], {"chats": [{"id": 1}]}, {"chats": {"list": []}}, {"id": 1, "email": "x"}, []]
)
def test_files_of_conversations_are_none_of_them(value: object) -> None:
    assert not [name for name, (reader, _) in SIDECARS.items() if recognises(reader, as_json(value))]
