"""Every composed case of an export gives its right answer through the real command."""

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CASES = Path(__file__).parents[1] / "cases"
COMMAND = [str(Path(sys.executable).with_name("session-ingest")), "import"]

# The checker cannot tell these apart from faults: it takes the words of "not 'plan first'" for words that must be
# there, and all threads from a place on for one. What is right is compared below.
MISTAKEN = {
    "59-copilot-csv-with-bom": ("(derived from title and run, stable)", "6 events, 2 expected"),
    "63-ai-chat-clipper-v2": ("(index 1)", "text lacks 'plan first'"),
}


def _checker():
    spec = importlib.util.spec_from_file_location("check_exports", CASES / "check_exports.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CHECKER = _checker()


@pytest.mark.parametrize("case", sorted((CASES / "exports").glob("[0-9]*")), ids=lambda case: case.name)
def test_case_agrees_with_its_right_answer(case: Path, tmp_path: Path) -> None:
    """What the importer emits and reports is what the case expects."""
    if (case / "make_input.py").exists():
        made = tmp_path / case.name
        made.mkdir()
        subprocess.run([sys.executable, case / "make_input.py", made / "input.zip", "60"], check=True)
        shutil.copy(case / "expected.md", made)
        case = made
    faults, _ = CHECKER.check(case, COMMAND)
    mistaken = MISTAKEN.get(case.name)
    assert [fault for fault in faults if not (mistaken and all(word in fault for word in mistaken))] == []


def events_of(case: str, tmp_path: Path) -> list[dict]:
    (path,) = CHECKER.inputs(CASES / "exports" / case)
    _, events, _ = CHECKER.run(COMMAND, [path], tmp_path)
    return events


def test_the_runs_of_one_title_are_threads_in_the_order_of_time(tmp_path: Path) -> None:
    """Case 59: two threads, the person before the answer at equal times."""
    events = events_of("59-copilot-csv-with-bom", tmp_path)
    want = CHECKER.expectation(CASES / "exports" / "59-copilot-csv-with-bom")["conversations"]
    threads = list(dict.fromkeys(event["source"]["threadId"] for event in events))
    for thread, conversation in zip(threads, want, strict=True):
        told = [(e["event"]["role"], e["event"]["text"]) for e in events if e["source"]["threadId"] == thread]
        assert told == [(w["role"], w["text"]) for w in conversation["activePath"]]


def test_thinking_of_a_clipped_chat_is_not_in_its_answer(tmp_path: Path) -> None:
    """Case 63: `contents` tells them apart."""
    answers = [e for e in events_of("63-ai-chat-clipper-v2", tmp_path) if e["event"]["type"] == "message"]
    assert answers
    assert "plan first" not in json.dumps(answers)
