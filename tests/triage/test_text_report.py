"""The text report fits its columns, colours only what a person sees, and never obeys what it quotes."""

import io
import re
import unicodedata
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.support.triage import NOW, Home, PiSession, ago, canonical, event, gathered, jsonl, task, write_board
from triage.board.read import Task, TaskBoard
from triage.report.build import Found, build
from triage.report.gather import Gatherer
from triage.report.ideas import ideas_in
from triage.report.layout import fit, joined, width, wrap
from triage.report.model import Problem, Report
from triage.report.options import Options
from triage.report.paint import paint, wants_colour
from triage.report.render import lines

_wild = st.text(
    st.characters(codec="utf-8") | st.sampled_from("芦苇🌾🐜👨\u200d👩\u200d👧🇵🇹❤\ufe0fé한é\u202e\x1b[31m\t  —"),
    max_size=300,
)


def rendered(report: Report, columns: int = 80) -> list[str]:
    stream = io.StringIO()
    paint(lines(report, columns), stream, colour=False)
    return stream.getvalue().split("\n")


def made(gatherer: Gatherer, board: TaskBoard, **found: Any) -> Report:
    options = Options(workspace=board.path.parent)
    return build(gatherer, board, Found("/s", "global-fallback", pi_sessions_there=True, **found), options, ago(0, NOW))


def widest(text: str) -> int:
    """Columns by the most generous of three measures."""
    by_character = sum(
        0 if unicodedata.combining(c) or c in "\u200d\ufe0f" else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )
    return max(cell_len(text), width(text), by_character if text.isprintable() else 0)


@settings(max_examples=60, deadline=None)
@given(st.lists(_wild, min_size=9, max_size=9), st.sampled_from([40, 57, 80]))
def test_every_line_fits(words: list[str], columns: int) -> None:
    """Whatever people write, in whatever script, however long the ids."""
    ask, thread, title, author, identifier, status, note, reason, summary = words
    long_id = "".join(identifier.split()) or "i"
    events = [
        event(ask + "\n\nShall I?", thread=thread or "t", conversation_title=title or None, author_id=author or None),
        event(f"[COLONY_SIGNAL:FAILED] [c1] {ask}", "agent", type="signal", thread=thread or "t"),
        event(f"## Blocked\n- {summary}\n## Next Steps\n- {summary}", "system", type="summary", thread="s"),
        event(f"bash: {ask}: command not found", "tool", type="tool_result", labels=["error"], tasks=["TASK-1"]),
    ]
    gatherer = gathered(events, ["TASK-1", long_id])
    gatherer.problem(Problem(severity="rejected", where=note or "w", reason=reason or "r", detail=note, sample=note))
    tasks = [
        Task("TASK-1", "blocked", ask), Task(long_id, "planned", title, priority=author or None), Task("x", status, ""),
    ]  # fmt: skip
    board = TaskBoard((Path("/" + "w" * 200)), tasks)
    report = made(gatherer, board, ideas=list(ideas_in(f"- idea: {title} x", "markdown", "/n.md")))
    for line in rendered(report, columns):
        assert widest(line) <= columns, line
        assert not any(unicodedata.category(c) == "Cc" or c in "\u202e\u2066\u200b" for c in line), line


@given(_wild, st.integers(2, 90), st.integers(1, 4))
def test_wrapping(text: str, columns: int, count: int) -> None:
    """Lines fit, there are not more than asked for, and nothing but white space is lost before the cut."""
    wrapped = wrap(text, columns, count)
    assert 1 <= len(wrapped) <= count
    assert all(width(line) <= columns for line in wrapped)
    everything = "".join(text.split())
    shown = "".join("".join(wrapped).split())
    assert shown == everything or (everything.startswith(shown.removesuffix("…")) and shown.endswith("…"))


@given(st.lists(_wild, max_size=6), st.integers(2, 90))
def test_joining(parts: list[str], columns: int) -> None:
    assert all(width(line) <= columns for line in joined(parts, columns))
    assert all(width(fit(part, columns)) <= columns for part in parts)


def test_words_are_quoted_and_never_obeyed(home: Home) -> None:
    """Markup, escape sequences and orders in a conversation are words."""
    text = (
        "Please run [bold red]rm -rf[/] \x1b[31mnow\x1b[0m \x1b]0;title\x07\u202eback [link=http://x]y[/link]. Shall I?"
    )
    out = home.run("--events", home.file("e.jsonl", jsonl([canonical(text, "assistant")]))).stdout
    assert "[bold red]rm -rf[/] now" in out
    assert "[link=http://x]y[/link]" in " ".join(out.split())
    assert "\x1b" not in out
    assert "\u202e" not in out


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "environment", "no_color", "colour"),
    [
        (Terminal(), {}, False, True),
        (Terminal(), {"NO_COLOR": ""}, False, True),
        (Terminal(), {"NO_COLOR": "1"}, False, False),
        (Terminal(), {"NO_COLOR": "0"}, False, False),
        (Terminal(), {"TERM": "dumb"}, False, False),
        (Terminal(), {}, True, False),
        (io.StringIO(), {}, False, False),
    ],
)
def test_colour_only_where_a_person_sees_it(
    stream: io.StringIO, environment: dict[str, str], no_color: bool, colour: bool
) -> None:
    assert wants_colour(stream, environment, no_color=no_color) is colour


def test_colour_changes_no_word() -> None:
    """With colour the lines are the same, with sequences around."""
    report = made(gathered([event("Which [b]port[/b]? 🌾")]), TaskBoard(Path("/w"), []))
    stream = io.StringIO()
    paint(lines(report, 80), stream, colour=True)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue())
    assert "\x1b[" in stream.getvalue()
    assert [line.rstrip() for line in plain.split("\n")] == rendered(report)


def test_sections_in_order(home: Home) -> None:
    """What waits comes first, problems and sources last; each with what a person needs."""
    write_board(home.workspace, [task("TASK-BUD-1", "blocked", "Mend the gate"), task("TASK-BUD-2")])
    session = PiSession(home.pi_folder() / "a.jsonl", str(home.workspace), hours=3)
    session.say("user", "mend TASK-BUD-1").say("assistant", "The lock is old.\n\nShall I cut it?")
    events = home.file(
        "e.jsonl",
        jsonl(
            [
                canonical("[COLONY_SIGNAL:COMPLETE] [c9] TASK-BUD-2", "assistant", thread="t2"),
                canonical("- idea: a second key", "user", thread="t3"),
                canonical("## Next Steps\n- oil", "system", type="summary", thread="t4"),
                canonical("bash: rg: command not found", "assistant", thread="t5"),
            ]
        )
        + b"bad\n",
    )
    out = home.run("--events", events).stdout
    titles = [
        "Waits for you", "Unlock now", "Later", "Perhaps done", "Runs and signals", "Gaps in the tools", "Next steps",
        "Ideas", "Could not be read", "Delegation lane", "Sources",
    ]  # fmt: skip
    places = [out.index(f"\n{title}") for title in titles]
    assert places == sorted(places)
    waits = out[places[0] : places[1]]
    assert "approval  2 h ago · pi · assistant · fen-mill" in waits
    assert "“The lock is old. Shall I cut it?”" in waits
    assert "thread 5e55104e-0000…" in waits
    assert "TASK-BUD-1" in out[places[1] : places[2]]
    assert "“mend TASK-BUD-1”" in out[places[1] : places[2]]
    assert f"{events}:byte" in "".join(out.split())  # a long path is wrapped anywhere


def test_empty_states_say_what_to_do_next(home: Home) -> None:
    """A newcomer with nothing yet is told where to look."""
    out = home.run().stdout
    assert "No conversation in the last day" in out
    assert "session-triage --days 7" in " ".join(out.split())
    assert "session-triage --events FILE" in " ".join(out.split())
    assert "session-triage --log" in " ".join(out.split())
    assert "Nothing pending on the board" in out


def test_nothing_waits_is_said(home: Home) -> None:
    out = home.run("--events", home.file("e.jsonl", jsonl([canonical("hello"), canonical("old", hours=50)]))).stdout
    assert "no open question, failure or block in the last day" in " ".join(out.split())
    assert "1 events are older" not in out
    assert "1 event is older" in out


def test_long_lists_are_cut_and_say_so(home: Home) -> None:
    """The JSON has all; the text has what a person takes in."""
    events = [canonical("Which port?", "assistant", thread=f"t{n}") for n in range(30)]
    file = home.file("e.jsonl", jsonl(events))
    assert "… and 18 more" in home.run("--events", file).stdout
    assert len(home.run("--json", "--events", file).report["waiting"]) == 30


def test_report_decodes_into_its_own_model(home: Home) -> None:
    """What is printed is what the model says."""
    out = home.run("--json", "--events", home.file("e.jsonl", jsonl([canonical("Which port?", "assistant")]))).stdout
    assert msgspec.json.decode(out.encode(), type=Report).waiting[0].kind == "question"


def test_blocked_tasks_are_listed_once(home: Home) -> None:
    """They wait, so they count; where they are listed with their evidence is said in one line."""
    write_board(home.workspace, [task(f"T{n}", "blocked", f"Gate {n}") for n in range(3)])
    out = home.run().stdout
    assert "Waits for you  3" in out
    assert "blocked  3 tasks on the board, see Unlock now" in out
    assert out.count("Gate 1") == 1
