"""What waits for the operator: asks without an answer, ends in error, and nothing else."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.event import CanonicalEvent
from tests.support.triage import event, gathered
from triage.report.waiting import ranked, waiting_in_threads

ASK = "Shall I drop the column?"


def kinds(events: Sequence[CanonicalEvent]) -> list[str]:
    gatherer = gathered(events)
    return [item.kind for item in ranked(waiting_in_threads(gatherer.threads.ends()))]


def said(role: str, text: str, hours: float, **members: Any) -> CanonicalEvent:
    return event(text, role, hours=hours, **members)


def test_unanswered_ask_waits() -> None:
    """Who, where, since when, and the words."""
    asked = said("assistant", f"The column is unused. {ASK}", 2, model="heron", conversation_title="Reeds")
    (item,) = waiting_in_threads(gathered([said("user", "go", 3), asked]).threads.ends())
    assert item.kind == "approval"
    assert item.rule == "unanswered-ask"
    assert item.words == f"The column is unused. {ASK}"
    assert item.since == asked.event.timestamp_iso
    assert item.event_id == asked.event.id
    assert item.who is not None
    assert (item.who.provider_account_key, item.who.role, item.who.model) == ("pi", "assistant", "heron")
    assert (item.where.thread_id, item.where.workspace, item.where.title) == ("t1", "/home/ana/fen-mill", "Reeds")


@pytest.mark.parametrize(
    ("rule", "events", "expected"),
    [
        ("an answer ends it", [said("assistant", ASK, 2), said("user", "yes", 1)], []),
        ("the operator's role is an answer too", [said("assistant", ASK, 2), said("operator", "yes", 1)], []),
        ("an earlier word is none", [said("user", "yes", 3), said("assistant", ASK, 2)], ["approval"]),
        (
            "an answer on another branch is one",
            [said("assistant", ASK, 3, branch="b1"), said("user", "other way", 2)],
            [],
        ),
        (
            "an answer in another thread is none",
            [said("assistant", ASK, 3), said("user", "yes", 2, thread="t2")],
            ["approval"],
        ),
        (
            "an agent that goes on working did not wait",
            [said("assistant", "Why does it fail? Let me look.", 3), event("bash {}", hours=2, type="tool_call")],
            [],
        ),
        (
            "an agent that says more did not wait",
            [said("assistant", "Which port? ", 3), said("assistant", "It is 8080.", 2)],
            [],
        ),
        (
            "a tool's late output is nobody's word",
            [said("assistant", ASK, 3), event("ok", "tool", hours=2, type="tool_result", tool_call_id="x")],
            ["approval"],
        ),
        (
            "a signal is nobody's word",
            [said("assistant", ASK, 3), event("[COLONY_SIGNAL:WORKING] [c1]", "agent", hours=2, type="signal")],
            ["approval"],
        ),
        ("an operator's question is not put to the operator", [said("user", "Which port?", 1)], []),
        ("a courtesy asks nothing", [said("assistant", "Done. Anything else?", 1)], []),
        ("a summary asks nothing", [event("Which port?", "system", type="summary")], []),
        ("reasoning asks nothing", [event("Which port?", type="status", labels=["reasoning"])], []),
        ("an unknown role asks nothing", [event("Which port?", "system", labels=["role-unknown"])], []),
        ("an agent that is blocked waits", [said("agent", "I'm blocked: no key for the gate.", 1)], ["blocked"]),
        (
            "a blocked agent that got an answer does not",
            [said("agent", "I'm blocked: no key for the gate.", 2), said("user", "under the mat", 1)],
            [],
        ),
    ],
)
def test_agents(rule: str, events: list[CanonicalEvent], expected: list[str]) -> None:
    """In a thread with an agent, user and operator are both the operator."""
    assert kinds(events) == expected, rule


def chat(role: str, text: str, hours: float, author: str = "ana", **members: Any) -> CanonicalEvent:
    return event(text, role, hours=hours, provider="telegram", thread="room", author_id=author, **members)


@pytest.mark.parametrize(
    ("rule", "events", "expected"),
    [
        ("a person's question waits", [chat("user", "Can you send me the list?", 1)], ["question"]),
        (
            "the operator's word answers",
            [chat("user", "Can you send me the list?", 2), chat("operator", "here", 1, "me")],
            [],
        ),
        (
            "anybody's word answers",
            [chat("user", "Who has the key?", 2), chat("user", "I do", 1, "bo")],
            [],
        ),
        (
            "the asker's own next words do not",
            [chat("user", "Can you send me the list?", 2), chat("user", "I need it today.", 1)],
            ["question"],
        ),
        ("the operator's question waits for others", [chat("operator", "Who has the key?", 1, "me")], []),
        ("a bot asks too", [chat("bot", "Approve the deploy? [y/N]", 1, "ci")], ["approval"]),
        (
            "the operator's reaction answers",
            [
                chat("user", "Can I come at ten?", 2),
                chat("operator", "👍", 1, "me", type="status", labels=["reaction"]),
            ],
            [],
        ),
        (
            "an edit keeps its place",
            [
                chat("user", "Can you send the lst?", 3, message_id="m1"),
                chat("operator", "here", 2, "me"),
                chat("user", "Can you send the list?", 1, message_id="m1", labels=["edit"]),
            ],
            [],
        ),
    ],
)
def test_chats(rule: str, events: list[CanonicalEvent], expected: list[str]) -> None:
    """Among people, `user` is somebody else and whoever speaks next answers."""
    assert kinds(events) == expected, rule


def test_a_person_who_asks_again_is_one_item() -> None:
    """The first ask says since when; the others are counted."""
    events = [
        chat("user", text, 3 - n) for n, text in enumerate(["Can you send the list?", "Today?", "Are you there?"])
    ]
    (item,) = waiting_in_threads(gathered(events).threads.ends())
    assert item.words == "Can you send the list?"
    assert item.more == 2


def call(name: str, arguments: str, hours: float, **members: Any) -> CanonicalEvent:
    words = {"tool_name": name, "tool_call_id": "c1", **members}
    return event(f"{name} {arguments}", hours=hours, type="tool_call", **words)


@pytest.mark.parametrize(
    ("rule", "events", "expected"),
    [
        ("without a result it waits", [call("ask_user", '{"question":"Which port?"}', 1)], ["question"]),
        (
            "its result ends it",
            [call("ask_user", "{}", 2), event("8080", "tool", hours=1, type="tool_result", tool_call_id="c1")],
            [],
        ),
        (
            "another call's result does not",
            [call("ask_user", "{}", 2), event("8080", "tool", hours=1, type="tool_result", tool_call_id="c2")],
            ["question"],
        ),
        ("an operator's word ends it", [call("ask_user", "{}", 2), said("user", "8080", 1)], []),
        ("its agent's next words end it", [call("ask_user", "{}", 2), said("assistant", "Never mind.", 1)], []),
        ("a plan asks for leave", [call("exit_plan_mode", '{"plan":"Drop it"}', 1)], ["approval"]),
        ("any other tool asks nobody", [call("bash", '{"command":"ask?"}', 1)], []),
    ],
)
def test_tools_that_ask(rule: str, events: list[CanonicalEvent], expected: list[str]) -> None:
    assert kinds(events) == expected, rule


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ('{"question":"Which port?"}', "Which port?"),
        ('{"questions":[{"header":"Port","question":"Which port?","options":["1","2"]}]}', "Which port?"),
        ('{"timeout":5}', 'ask_user {"timeout":5}'),
        ('{"question":"Which po', 'ask_user {"question":"Which po'),
        ("[" * 5000, None),
    ],
)
def test_words_of_a_tool_that_asks(arguments: str, words: str | None) -> None:
    """The question among the arguments is quoted, else the arguments as they stand."""
    (item,) = waiting_in_threads(gathered([call("ask_user", arguments, 1)]).threads.ends())
    assert item.words.startswith("ask_user [[[") if words is None else item.words == words


def failed(label: str, hours: float, **members: Any) -> CanonicalEvent:
    return event("429 too many requests", hours=hours, type="status", labels=[label], **members)


@pytest.mark.parametrize(
    ("rule", "events", "expected"),
    [
        ("an error at the end waits", [said("user", "go", 2), failed("error", 1)], ["failed"]),
        ("an abort at the end waits", [failed("aborted", 1)], ["aborted"]),
        ("a retry that worked ends it", [failed("error", 2), said("assistant", "Done.", 1)], []),
        ("a retry that works on ends it", [failed("error", 2), event("bash {}", hours=1, type="tool_call")], []),
        ("an operator's word is a retry", [failed("error", 2), said("user", "again", 1)], []),
        ("several errors are one", [failed("error", 3), failed("error", 2), failed("error", 1)], ["failed"]),
        (
            "an ask in an answer that broke off is no ask",
            [said("assistant", ASK, 2, message_id="m1"), failed("aborted", 1.9, message_id="m1#1")],
            ["aborted"],
        ),
        ("a failed tool is daily work", [event("no", "tool", type="tool_result", labels=["error"])], []),
    ],
)
def test_ends_in_error(rule: str, events: list[CanonicalEvent], expected: list[str]) -> None:
    assert kinds(events) == expected, rule


def test_order() -> None:
    """Approvals, questions, failures, blocked; within each the oldest first."""
    events = [
        said("agent", "I'm blocked: no key.", 9, thread="t1"),
        failed("error", 8, thread="t2"),
        said("assistant", "Which port?", 2, thread="t3"),
        said("assistant", "Which port?", 7, thread="t4"),
        said("assistant", ASK, 1, thread="t5"),
    ]
    items = ranked(waiting_in_threads(gathered(events).threads.ends()))
    assert [item.where.thread_id for item in items] == ["t5", "t4", "t3", "t2", "t1"]


_steps = st.lists(
    st.tuples(st.sampled_from(["ask", "answer", "work", "error", "words"]), st.sampled_from([None, "b1"])), max_size=12
)


def _event_of(step: str, branch: str | None, number: int) -> CanonicalEvent:
    hours = 20 - number
    match step:
        case "ask":
            return said("assistant", ASK, hours, branch=branch)
        case "answer":
            return said("user", "yes", hours, branch=branch)
        case "work":
            return event("bash {}", hours=hours, type="tool_call", branch=branch)
        case "error":
            return failed("error", hours, branch=branch)
        case _:
            return said("assistant", "Done.", hours, branch=branch)


@given(_steps, st.randoms(use_true_random=False))
def test_sources_in_any_order_give_the_same(steps: list[tuple[str, str | None]], random: Any) -> None:
    """Events of several sources may arrive in any order: moments decide, and the last step explains what waits."""
    events = [_event_of(step, branch, number) for number, (step, branch) in enumerate(steps)]
    expected = kinds(events)
    shuffled = list(events)
    random.shuffle(shuffled)
    gatherer = gathered([])
    for source, one in enumerate(shuffled):
        gatherer.threads.add(one, source)
    assert [item.kind for item in ranked(waiting_in_threads(gatherer.threads.ends()))] == expected
    words = [step for step, _ in steps]
    if words and words[-1] == "answer":
        assert expected == []
    if words and words[-1] == "ask":
        assert "approval" in expected


def test_clock_that_jumps_back_moves_nothing() -> None:
    """Within one file the order of lines is the truth."""
    later = event("yes", "user", hours=5)
    assert kinds([event(ASK, hours=1), later]) == []
