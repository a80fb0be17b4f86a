"""Promise: references are recognised as table 1.6 of the origin's notes says, each once, by first sight (E43)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.processors.references import MAX_REFS, find_refs, merge_refs
from schemas.event import Refs
from tests.support.processors import event


def tasks(text: str, *, tool_output: bool = False) -> list[str]:
    refs = find_refs(text, tool_output=tool_output)
    return refs.task_ids if refs else []


def issues(text: str, *, tool_output: bool = False) -> list[str]:
    refs = find_refs(text, tool_output=tool_output)
    return refs.issue_ids if refs else []


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("fix TASK-BUD-020.", ["TASK-BUD-020"]),
        ("task-bud-020", ["TASK-BUD-020"]),
        ("tAsK-BuD-020", ["TASK-BUD-020"]),
        ("TASK-BUD-020-D1", ["TASK-BUD-020-D1"]),
        ("TASK-BUD-020- next", ["TASK-BUD-020"]),
        ("TASK-CAL-2026-04-A", ["TASK-CAL-2026-04-A"]),
        ("MYTASK-BUD-9", []),
        ("MY-TASK-BUD-9", []),
        ("TASK-X", []),
        ("TASK_BUD_1", []),
        ("TASK-", []),
        ("TASK-BUD-1/TASK-BUD-2, TASK-BUD-1", ["TASK-BUD-1", "TASK-BUD-2"]),
        ("colony-c1-promotion", []),
        ("```\nTASK-BUD-7\n```", ["TASK-BUD-7"]),
        ("TASK-" + "A" * 100 + "1", []),
    ],
)
def test_tasks(text: str, ids: list[str]) -> None:
    assert tasks(text) == ids
    assert tasks(text, tool_output=True) == ids


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("closes #123, #124", ["#123", "#124"]),
        ("(#7)", ["#7"]),
        ("#7.", ["#7"]),
        ("#7", ["#7"]),
        ("[#7]", ["#7"]),
        ("#000080", []),
        ("#fff123", []),
        ("#123abc", []),
        ("#123_x", []),
        ("&#39;", []),
        ("page#12", []),
        ("##12", []),
        ("path/#12", []),
        ("[go](#1-introduction)", []),
        ("[go](#7)", []),
        ("#1.5", []),
        ("#0", []),
        ("#12345678", []),
        ("# 12", []),
        ("aretw0/agents-lab#12", ["aretw0/agents-lab#12"]),
        ("(vercel/next.js#5)", ["vercel/next.js#5"]),
        ("guide/setup.md#12", []),
        ("https://example.org/a/b#12", []),
        ("a/b/c#12", []),
        ("https://github.com/o/r/issues/12", ["o/r#12"]),
        ("https://github.com/o/r/pull/12/files", ["o/r#12"]),
        ("https://github.com/o/r/issues/12#issuecomment-99", ["o/r#12"]),
        ("see github.com/o/r/pull/3.", ["o/r#3"]),
        ("https://gitlab.com/g/s/p/-/merge_requests/4", ["g/s/p#4"]),
        ("https://gitlab.example.org/g/p/issues/5", ["g/p#5"]),
        ("https://github.com/o/r/blob/main/issues/12", []),
        ("https://example.org/o/r/issues/12", []),
        ("https://github.com/o/r/issues/12x", []),
        ("It closes #123, #124 and millpond/weir#12 (#123 again).", ["#123", "#124", "millpond/weir#12"]),
        ("first https://github.com/o/r/pull/2 then #1", ["o/r#2", "#1"]),
        ("before #1\n```css\n#2 #3\n```\nafter #4", ["#1", "#4"]),
        ("~~~\n#2\n~~~\n#4", ["#4"]),
        ("- list:\n    ```\n    #2\n    ```\n#4", ["#4"]),
        ("````\n```\n#2\n````\n#4", ["#4"]),
        ("```never closed\n#2", []),
        ("```code in a line``` #4", ["#4"]),
    ],
)
def test_issues(text: str, ids: list[str]) -> None:
    assert issues(text) == ids
    assert issues(text, tool_output=True) == []


def test_a_text_without_references_has_none() -> None:
    assert find_refs("#7 at the beginning, [link](") == Refs(issue_ids=["#7"])
    assert find_refs("nothing here, not even a - or a # to speak of") is None


def test_given_references_stay_and_come_first() -> None:
    given_refs = Refs(task_ids=["TASK-OLD-1", "Seed-4"], run_ids=["c1"])
    found = event("do TASK-NEW-2, TASK-OLD-1", refs=given_refs).event.refs
    assert found == Refs(task_ids=["TASK-OLD-1", "Seed-4", "TASK-NEW-2"], run_ids=["c1"])


def test_empty_references_are_left_out() -> None:
    assert merge_refs(Refs(), None) is None
    assert event("words", refs=Refs()).event.refs is None


def test_calls_and_outputs_of_tools_name_tasks_but_no_issues() -> None:
    for kind, role in (("tool_call", "assistant"), ("tool_result", "toolResult")):
        assert event("#12 o/r#3 TASK-A-1", type=kind, role=role).event.refs == Refs(task_ids=["TASK-A-1"])


@pytest.mark.parametrize(
    "piece", ["TASK-", "task-A1-", "#1", "a/b#1 ", "o/", "```\n", "github.com/", "a-", "x/y/", "/1"]
)
def test_a_megabyte_of_one_piece_is_read(piece: str) -> None:
    """Each pattern looks at a bounded part of the text for each place it starts at."""
    refs = find_refs(piece * (1_000_000 // len(piece)))
    assert refs is None or len(refs.task_ids) + len(refs.issue_ids) <= 2


def test_the_number_of_references_is_bounded() -> None:
    text = " ".join(f"#{n} TASK-A-{n}" for n in range(1, 3000))
    refs = find_refs(text)
    assert refs is not None
    assert (len(refs.task_ids), len(refs.issue_ids)) == (MAX_REFS, MAX_REFS)
    assert refs.issue_ids[0] == "#1"


@given(st.text(st.sampled_from("TASK-task1#/`~\n o.r&(]-githubcomissues:")))
def test_found_references_are_unique_and_stand_in_the_text(text: str) -> None:
    refs = find_refs(text)
    if refs:
        assert len(set(refs.task_ids)) == len(refs.task_ids)
        assert len(set(refs.issue_ids)) == len(refs.issue_ids)
        assert all(task in text.upper() for task in refs.task_ids)
