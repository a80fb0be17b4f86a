"""Promise: every shape of COLONY_SIGNAL is understood, and a mention is no signal (1.5, E39, E40, E42, B39)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.processors.colony import ColonySignal, first_signal, mentions
from schemas.event import CanonicalEvent
from tests.support.processors import event

PROGRESS = {"role": "custom", "raw_type": "ant-colony-progress"}
REPORT = {"role": "custom", "raw_type": "ant-colony-report"}
TOOL = {"role": "toolResult", "type": "tool_result", "tool_name": "ant_colony"}
ANSWER = {"role": "assistant"}


def run_ids(found: CanonicalEvent) -> list[str]:
    return found.event.refs.run_ids if found.event.refs else []


@pytest.mark.parametrize(
    ("carrier", "text", "run", "labels"),
    [
        (PROGRESS, "[COLONY_SIGNAL:WORKING] 🐜 cutting (12%, $0.03)", None, ["colony:WORKING", "outcome:running"]),
        (PROGRESS, "[COLONY_SIGNAL:TASK_DONE] 🐜 ✓ reeds (1/3, $0.1)", None, ["colony:TASK_DONE", "outcome:running"]),
        (
            PROGRESS,
            "[COLONY_SIGNAL:TASK_DONE] 🐜 ✗ reeds (1/3, $0.1)",
            None,
            ["colony:TASK_DONE", "outcome:running", "task-failed"],
        ),
        (
            PROGRESS,
            "[COLONY_SIGNAL:TASK_DONE] [ant] [x] reeds (1/3, $0.1)",
            None,
            ["colony:TASK_DONE", "outcome:running", "task-failed"],
        ),
        (PROGRESS, "[COLONY_SIGNAL:TASK_DONE] [ant] [ok] reeds", None, ["colony:TASK_DONE", "outcome:running"]),
        (REPORT, "[COLONY_SIGNAL:COMPLETE]\n## 🐜 Report\nall", None, ["colony:COMPLETE", "outcome:success"]),
        (
            REPORT,
            "[COLONY_SIGNAL:COMPLETE]\n## 🐜 Report\n\n**Status:** ❌ failed\n- x",
            None,
            ["colony:COMPLETE", "outcome:failed"],
        ),
        (
            REPORT,
            "[COLONY_SIGNAL:COMPLETE]\n**Status:** ✅ done (0 errors)",
            None,
            ["colony:COMPLETE", "outcome:success"],
        ),
        (REPORT, "[COLONY_SIGNAL:FAILED]\n## 🐜 Colony Crashed", None, ["colony:FAILED", "outcome:failed"]),
        (TOOL, "[COLONY_SIGNAL:LAUNCHED]\nWatch [COLONY_SIGNAL:*]", None, ["colony:LAUNCHED", "outcome:running"]),
        (PROGRESS, "[COLONY_SIGNAL:WORKING] 🐜[c1] reeds (1%)", "c1", ["colony:WORKING", "outcome:running"]),
        (
            PROGRESS,
            "[COLONY_SIGNAL:WORKING] 🐜[c1|colony-mnzmi2…-lk2d0] reeds",
            "c1|colony-mnzmi2…-lk2d0",
            ["colony:WORKING", "outcome:running"],
        ),
        (
            REPORT,
            "[COLONY_SIGNAL:COMPLETE] [c1|colony-mnzmi243-lk2d0]\n# R",
            "c1|colony-mnzmi243-lk2d0",
            ["colony:COMPLETE", "outcome:success"],
        ),
        (
            REPORT,
            "[COLONY_SIGNAL:BUDGET_EXCEEDED] [c1|colony-a]\n# R",
            "c1|colony-a",
            ["colony:BUDGET_EXCEEDED", "outcome:failed"],
        ),
        (TOOL, "[COLONY_SIGNAL:LAUNCHED] [c1]\n🐜 Colony [c1]", "c1", ["colony:LAUNCHED", "outcome:running"]),
        (
            PROGRESS,
            "[COLONY_SIGNAL:COMPLETED] 🐜[c2] done · spend=$0.2",
            "c2",
            ["colony:COMPLETED", "outcome:success"],
        ),
        (
            PROGRESS,
            "[COLONY_SIGNAL:WORKING] [ant][c1|colony-x] reeds",
            "c1|colony-x",
            ["colony:WORKING", "outcome:running"],
        ),
        (PROGRESS, "[COLONY_SIGNAL:WORKING] [ant] reeds", None, ["colony:WORKING", "outcome:running"]),
        (ANSWER, "[COLONY_SIGNAL:COMPLETE] lote finalizado", None, ["colony:COMPLETE", "outcome:success"]),
        (ANSWER, "\n [COLONY_SIGNAL:RUNNING][colony-a] two", "colony-a", ["colony:RUNNING", "outcome:running"]),
        (
            ANSWER,
            "[COLONY_SIGNAL:NAPPING] zzz",
            None,
            ["colony:NAPPING", "outcome:unknown", "unknown-state"],
        ),
        (ANSWER, "[COLONY_SIGNAL:DONE]\n[c9] on the next line", None, ["colony:DONE", "outcome:success"]),
        (
            ANSWER,
            "[COLONY_SIGNAL:DONE] first\n[COLONY_SIGNAL:FAILED] later",
            None,
            ["colony:DONE", "outcome:success"],
        ),
        (PROGRESS, "\x1b[32m[COLONY_SIGNAL:DONE]\x1b[0m 🐜[c1] ok", "c1", ["colony:DONE", "outcome:success"]),
        (
            {"role": "bot", "provider": "telegram"},
            "[COLONY_SIGNAL:ABORTED]",
            None,
            ["colony:ABORTED", "outcome:failed"],
        ),
        ({"role": "agent", "provider": "matrix"}, "[COLONY_SIGNAL:DONE]", None, ["colony:DONE", "outcome:success"]),
    ],
)
def test_every_shape_is_a_signal(carrier: dict[str, Any], text: str, run: str | None, labels: list[str]) -> None:
    found = event(text, **carrier)
    assert found.event.type == "signal"
    assert run_ids(found) == ([run] if run else [])
    assert found.event.labels == labels


@pytest.mark.parametrize(
    ("members", "text"),
    [
        ({"role": "user"}, "[COLONY_SIGNAL:COMPLETE] I saw"),
        ({"role": "toolResult", "type": "tool_result", "tool_name": "read"}, "[COLONY_SIGNAL:FAILED] [c3]\nold log"),
        (ANSWER, "The emitter prints this:\n```\n[COLONY_SIGNAL:COMPLETE] [c4]\n```"),
        (ANSWER, "```\n[COLONY_SIGNAL:COMPLETE] [c4]\n```"),
        (ANSWER, "It prints `[COLONY_SIGNAL:FAILED] [${run.id}]` when a run breaks."),
        (ANSWER, "[COLONY_SIGNAL:FAILED] [${colonyIdentity(colony)}]"),
        (ANSWER, "[COLONY_SIGNAL:FAILED] 🐜[c1|${stable}] words"),
        (ANSWER, "[COLONY_SIGNAL:COMPLETE] [<runtime>|<stable>]"),
        (ANSWER, "    [COLONY_SIGNAL:DONE] indented code"),
        (ANSWER, "> [COLONY_SIGNAL:DONE] quoted"),
        (PROGRESS, "```\n[COLONY_SIGNAL:DONE]\n```"),
        ({"role": "assistant", "type": "tool_call"}, "[COLONY_SIGNAL:DONE]"),
    ],
)
def test_a_mention_keeps_its_type_and_names_no_run(members: dict[str, Any], text: str) -> None:
    found = event(text, **members)
    assert found.event.type == members.get("type", "message")
    assert found.event.labels == ["colony-mention"]
    assert run_ids(found) == []


@pytest.mark.parametrize(
    "text",
    [
        "[COLONY_SIGNAL:*]",
        "[COLONY_SIGNAL:]",
        "[COLONY_SIGNAL:A1]",
        "COLONY_SIGNAL:FAILED",
        "[colony_signal:complete]",
        "[COLONY_SIGNAL:Done]",
        "[COLONY_SIGNAL:\nCOMPLETE]",
        "[COLONY_SIGNAL: DONE]",
    ],
)
def test_what_only_looks_like_a_tag_is_nothing(text: str) -> None:
    for carrier in (PROGRESS, TOOL, ANSWER):
        found = event(text, **carrier)
        assert found.event.type != "signal"
        assert found.event.labels == []
    assert mentions(text) == {}


def test_all_mentions_are_counted_as_the_origin_counted_them() -> None:
    text = "[COLONY_SIGNAL:DONE] x [COLONY_SIGNAL:DONE]\n```\n[COLONY_SIGNAL:FAILED]\n``` [COLONY_SIGNAL:*]"
    assert mentions(text) == {"DONE": 2, "FAILED": 1}


def test_a_signal_of_a_canonical_file_stays_one() -> None:
    """A file of other origin may call words a signal that no grammar of ours knows."""
    assert event("lamp is on", type="signal", role="agent", labels=["x"]).event.labels == ["x"]


@pytest.mark.parametrize(
    "piece", ["[COLONY_SIGNAL:DONE]", "[COLONY_SIGNAL:DONE] [", "**Status:", "* ", "```\n[COLONY_SIGNAL:X]\n", "[" * 9]
)
def test_a_megabyte_of_one_piece_is_read(piece: str) -> None:
    text = "[COLONY_SIGNAL:DONE] " + piece * (1_000_000 // len(piece))
    assert first_signal(text) is not None


@given(st.text(st.sampled_from("[]COLNY_SIGA:DE|c1🐜antx ✗$\n{}`"), max_size=40).map("[COLONY_SIGNAL:".__add__))
def test_any_text_gives_a_well_formed_signal_or_none(text: str) -> None:
    signal = first_signal(text)
    if signal is not None:
        assert isinstance(signal, ColonySignal)
        assert f"[COLONY_SIGNAL:{signal.state}]" in text
        assert signal.run is None or f"[{signal.run}]" in text
