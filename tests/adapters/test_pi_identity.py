"""Promise: an event's id survives re-reading, migration, forks, re-chaining and export, and tells like things apart."""

import copy
import json
import random
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.files.lines import Line
from adapters.sessions.pi_parser import PiParser
from tests.support.pi import (
    FILE,
    HEADER,
    NAMELESS,
    assistant,
    call,
    entry,
    events,
    file_of,
    heard,
    ids,
    image,
    line,
    message,
    parse,
    skipped,
    texts,
    tool_result,
    user,
)

CONVERSATION = [
    user("u1", None, "Name three apples", at=6),
    assistant("a1", "u1", [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Russet."}], at=7),
    assistant(
        "a2", "a1", [call("bash", {"command": "ls", "n": {"b": 1, "a": [1.5, None]}})], at=8, stopReason="toolUse"
    ),
    tool_result("r1", "a2", [{"type": "text", "text": "pips"}, image()], at=9),
    message("bashExecution", "b1", "r1", at=10, command="pwd", output="/w", exitCode=0),
    message("custom", "k1", "b1", at=11, customType="note", content="n", display=True),
    entry("custom_message", "k2", "k1", at=12, customType="note", content="m", display=True),
    entry("compaction", "s1", "k2", at=13, summary="S"),
    entry("branch_summary", "s2", "s1", at=14, summary="T", fromId="s1"),
    assistant("a3", "s2", "No", at=15, stopReason="error", errorMessage="gone"),
    entry("model_change", "m1", "a3", at=16, provider="heron", modelId="mid"),
    entry("session_info", "i1", "m1", at=17, name="apples"),
]
EVENTS = 14


def ids_of(lines: list[dict], header: dict = HEADER) -> list[str]:
    return ids(parse(file_of(header, *lines)))


def without_ids(lines: list[dict]) -> list[dict]:
    return [{key: value for key, value in line.items() if key not in {"id", "parentId"}} for line in lines]


def as_version_1(lines: list[dict]) -> list[dict]:
    """Write lines as version 1 had them: no ids, and hookMessage for custom."""
    old = copy.deepcopy(without_ids(lines))
    for value in old:
        if value.get("message", {}).get("role") == "custom":
            value["message"]["role"] = "hookMessage"
    return old


def as_version_4(lines: list[dict]) -> list[dict]:
    """Write lines as version 4 has them: flat kind lines, times in milliseconds, custom messages as messages."""
    new = []
    for seq, value in enumerate(copy.deepcopy(lines)):
        ms = 1767323046000 + (seq + 6) * 1000 - 6000
        if value["type"] == "custom_message":
            body = {key: value.pop(key) for key in ("customType", "content", "display")}
            value |= {"type": "message", "message": {"role": "custom", **body, "timestamp": ms}}
        new.append({"kind": "entry", "lane": "main", **value, "seq": seq, "timestamp": ms})
    return new


def rechained(lines: list[dict], prefix: str) -> list[dict]:
    """Give every entry another random id, and the chain with them."""
    new, parent = [], None
    for number, value in enumerate(lines):
        new.append({**value, "id": f"{prefix}{number}", "parentId": parent})
        parent = f"{prefix}{number}"
    return new


def test_the_conversation_has_as_many_events_as_this_file_says() -> None:
    assert len(set(ids_of(CONVERSATION))) == EVENTS


def test_reading_twice_gives_equal_ids() -> None:
    assert ids_of(CONVERSATION) == ids_of(CONVERSATION)


def test_a_version_1_file_rewritten_as_version_3_keeps_its_ids() -> None:
    """B4: the agent gives random ids and renames hookMessage; nothing is new but what is appended."""
    appended = user("new", "x11", "more", at=40)
    after = ids_of([*rechained(CONVERSATION, "x"), appended])
    assert after[:-1] == ids_of(as_version_1(CONVERSATION), {k: v for k, v in HEADER.items() if k != "version"})
    assert len(set(after)) == EVENTS + 1


def test_a_version_3_file_rewritten_as_version_4_keeps_its_ids() -> None:
    header = {"kind": "header", "version": 4, "id": HEADER["id"], "createdAt": 1767323045000, "cwd": "/w"}
    assert ids_of(as_version_4(CONVERSATION), header) == ids_of(CONVERSATION)


def test_a_fork_copies_ids_of_events_and_has_its_own_thread() -> None:
    """B8: same entries under another header: equal event ids, so that first sight wins downstream."""
    header = {**HEADER, "id": "fork", "parentSession": "../elsewhere.jsonl"}
    fork = heard(parse(file_of(header, *CONVERSATION, user("c1", "i1", "only here", at=50)), NAMELESS))
    assert [h.event.id for h in fork][:-1] == ids_of(CONVERSATION)
    assert {h.thread.thread_id for h in fork} == {"fork"}


def test_re_chaining_changes_no_id() -> None:
    assert ids_of(rechained(CONVERSATION, "r")) == ids_of(CONVERSATION)


def test_a_portable_export_has_the_ids_of_its_source() -> None:
    """2.8: a header without cwd, a linear path, original ids and times."""
    header = {"type": "session", "version": 3, "portable": 1, "id": HEADER["id"], "timestamp": HEADER["timestamp"]}
    export = parse(file_of(header, *CONVERSATION), NAMELESS)
    assert ids(export) == ids_of(CONVERSATION)
    assert {h.thread.thread_id for h in heard(export)} == {HEADER["id"]}


def shuffled(value: object, rng: random.Random) -> object:
    if isinstance(value, dict):
        items = [(key, shuffled(part, rng)) for key, part in value.items()]
        rng.shuffle(items)
        return dict(items)
    return [shuffled(part, rng) for part in value] if isinstance(value, list) else value


@given(st.randoms(use_true_random=False), st.sampled_from([None, 1, 4]), st.booleans())
def test_key_order_spaces_and_escapes_change_no_id(rng: random.Random, indent: int | None, ascii_only: bool) -> None:
    """The same JSON written in any other way gives the same ids and the same texts."""
    lines = [
        json.dumps(shuffled(value, rng), ensure_ascii=ascii_only, indent=indent).replace("\n", " ").encode()
        for value in CONVERSATION
    ]
    written = parse(file_of(HEADER, *lines))
    assert ids(written) == ids_of(CONVERSATION)
    assert texts(written) == texts(parse(file_of(HEADER, *CONVERSATION)))


def test_the_same_prompt_sent_twice_is_two_events() -> None:
    """E36: other entry ids, and even the same millisecond, as siblings or one after the other."""
    lines = [
        user("u1", None, "go on"),
        user("u2", "u1", "go on"),
        user("u3", "u1", "go on"),
        user("u4", "u1", "go on", at=9),
    ]
    assert len(set(ids_of(lines))) == 4


def test_equal_lines_of_version_1_are_distinct() -> None:
    """E37: without ids each line is its own, and the migration of such a file keeps the numbers."""
    lines = [user("a", None, "yes"), user("b", "a", "yes"), user("c", "b", "yes")]
    old = ids_of(without_ids(lines))
    assert len(set(old)) == 3
    assert old == ids_of(lines)


def test_the_same_line_again_is_a_duplicate() -> None:
    """B6: header and first entries written twice; each is emitted once, and what follows is read."""
    first, second = user("I", None, "Draw"), assistant("C", "I", [{"type": "text", "text": "Drawn"}, call("ink", {})])
    elements = parse(file_of(HEADER, first, second, HEADER, first, second, user("E", "C", "Add the weir", at=20)))
    assert texts(elements) == ["Draw", "Drawn", "ink {}", "Add the weir"]
    assert skipped(elements) == [
        ("duplicate", "header", 1),
        ("duplicate", "message/user", 1),
        ("duplicate", "message/assistant", 2),
    ]
    assert events(elements)[-1].parent_message_id == "C"


def test_an_id_used_again_with_other_words_is_another_event() -> None:
    """B7: the third line bears the first one's id and says something else."""
    assert len(set(ids_of([user("a", None, "one"), user("b", "a", "two"), user("a", "b", "three")]))) == 3


@pytest.mark.parametrize("field", ["role", "content", "timestamp"])
def test_what_is_said_by_whom_and_when_makes_the_id(field: str) -> None:
    value = user("u1", None, "a")
    other = copy.deepcopy(value)
    other["message"][field] = {"role": "lighthouse", "content": "b", "timestamp": 1}[field]
    assert ids_of([value]) != ids_of([other])


def test_two_results_that_differ_in_their_call_only_are_two_events() -> None:
    lines = [tool_result("r1", None, ""), tool_result("r2", None, "", toolCallId="t2")]
    assert len(set(ids_of(lines))) == 2
    assert [ids_of([value])[0] for value in lines] == ids_of(lines)


def test_images_without_words_are_told_apart_by_their_bytes() -> None:
    lines = [user("u1", None, [image("AAAA")]), user("u1", None, [image("BBBB")])]
    assert ids_of(lines[:1]) != ids_of(lines[1:])


def test_entries_without_any_time_are_told_apart_by_their_thread() -> None:
    """Words alone would make one event of every timeless yes in every session."""
    value = user("u1", None, "yes")
    del value["timestamp"], value["message"]["timestamp"]
    assert ids_of([value]) != ids_of([value], {**HEADER, "id": "another"})
    assert ids_of([value]) == ids_of([value])


def test_the_account_is_no_part_of_the_identity() -> None:
    value = user("u1", None, "yes")
    assert ids_of([value]) == ids_of([{**value, "account": "ana"}])


@pytest.mark.parametrize("ms", [0, -1, 10**15, 10**18, 1767323046000.0, 1.5, -(2**62), 2**70])
def test_any_number_may_stand_for_a_time(ms: float) -> None:
    """Times beyond what ISO text can say still make an id, an equal one each time."""
    value = {**user("u1", None, "yes"), "timestamp": ms}
    assert len(ids_of([value])) == 1
    assert ids_of([value]) == ids_of([value])


def test_state_is_small() -> None:
    """Reading a long session keeps ids and places, nothing of what was said: under 600 bytes an entry."""
    count = 5_000
    lines = [line(user(f"{n:08x}", f"{n - 1:08x}" if n else None, "word " * 400, at=n % 50)) for n in range(count)]
    parser = PiParser(FILE)
    parser.feed(Line(0, 1, line(HEADER)))
    tracemalloc.start()
    for number, raw in enumerate(lines):
        parser.feed(Line(number, number + 1, raw))
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept / count < 600
