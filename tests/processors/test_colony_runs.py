"""Promise: signals of one run are grouped, those of two are not, whatever ids they carry (E41)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.processors.colony import ColonySignal, first_signal
from ingest.processors.colony_runs import Runs, split_run, stable_key

FULL = "colony-mnzmi243xyzab-lk2d0-more"
SHORT = f"{FULL[:14]}…{FULL[-6:]}"


def grouped(*said: tuple[str, str]) -> list[list[str]]:
    """The run ids of each run, for pairs of thread and text."""
    runs = Runs()
    for thread, text in said:
        signal = first_signal(text)
        assert signal is not None
        runs.add(thread, signal)
    return [run.run_ids for run in runs.runs]


def test_a_runtime_id_in_two_threads_is_two_runs() -> None:
    assert grouped(("a", "[COLONY_SIGNAL:LAUNCHED] [c1]"), ("b", "[COLONY_SIGNAL:LAUNCHED] [c1]")) == [["c1"], ["c1"]]


def test_a_run_that_learns_its_stable_id_stays_one_run() -> None:
    assert grouped(
        ("a", "[COLONY_SIGNAL:LAUNCHED] [c1]"),
        ("a", "[COLONY_SIGNAL:WORKING] 🐜[c1|colony-x] w"),
        ("a", "[COLONY_SIGNAL:COMPLETE] [c1|colony-x]\nreport"),
    ) == [["c1", "c1|colony-x"]]


def test_a_shortened_stable_id_is_the_full_one() -> None:
    assert grouped(
        ("a", f"[COLONY_SIGNAL:WORKING] 🐜[c1|{SHORT}] w"), ("a", f"[COLONY_SIGNAL:COMPLETE] [c1|{FULL}]")
    ) == [[f"c1|{SHORT}", f"c1|{FULL}"]]


def test_a_stable_id_is_one_run_across_threads() -> None:
    assert (
        len(grouped(("a", "[COLONY_SIGNAL:WORKING] [c1|colony-x]"), ("b", "[COLONY_SIGNAL:DONE] [c2|colony-x]"))) == 1
    )


def test_another_stable_id_under_the_same_counter_is_another_run() -> None:
    said = [("a", "[COLONY_SIGNAL:DONE] [c1|colony-x]"), ("a", "[COLONY_SIGNAL:WORKING] [c1|colony-y]")]
    assert grouped(*said) == [["c1|colony-x"], ["c1|colony-y"]]


def test_a_counter_that_starts_again_after_the_end_is_another_run() -> None:
    said = [("a", f"[COLONY_SIGNAL:{state}] [c1]") for state in ("LAUNCHED", "DONE", "COMPLETE", "LAUNCHED", "FAILED")]
    assert grouped(*said) == [["c1"], ["c1"]]


def test_signals_without_an_id_belong_to_the_latest_run_of_their_thread() -> None:
    runs = Runs()
    for text in ("[COLONY_SIGNAL:LAUNCHED] [c1]", "[COLONY_SIGNAL:SCOUTING] 🐜 w", "[COLONY_SIGNAL:DONE] 🐜 x"):
        signal = first_signal(text)
        assert signal is not None
        runs.add("a", signal)
    (run,) = runs.runs
    assert run.states == ["LAUNCHED", "SCOUTING", "DONE"]
    assert run.outcome == "success"


def test_a_failure_that_was_said_stays() -> None:
    runs = Runs()
    runs.add("a", ColonySignal("FAILED", "c1", "failed"))
    assert runs.add("a", ColonySignal("COMPLETE", "c1", "success")).outcome == "failed"


@pytest.mark.parametrize(
    ("run", "parts"),
    [("c1", ("c1", None)), ("c1|colony-x", ("c1", "colony-x")), ("colony-a", (None, "colony-a"))],
)
def test_a_run_id_has_a_runtime_and_a_stable_part(run: str, parts: tuple[str | None, str | None]) -> None:
    assert split_run(run) == parts


@given(st.text("abc0-", min_size=25, max_size=60))
def test_shortening_a_long_stable_id_changes_nothing(stable: str) -> None:
    assert stable_key(f"{stable[:14]}…{stable[-6:]}") == stable_key(stable)
