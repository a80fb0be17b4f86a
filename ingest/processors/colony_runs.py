"""Which signals belong to one run: the stable id decides, else the thread and the process's own counter.

Source: section 1.5 of the origin's notes and case E41. Runtime ids (`c1`) are counted anew by each process, so they
mean something within a thread only; stable ids are the same everywhere, shortened in progress lines.
"""

import re
from collections import Counter
from typing import Final

from msgspec import Struct

from ingest.processors.colony import ColonySignal, Outcome

_STABLE_FROM: Final = "colony-"
_SHORTENED: Final = re.compile(r"(.{14})….*(.{6})\Z")
_HEAD: Final = 14
_TAIL: Final = 6
_SHORTENED_ABOVE: Final = 24
"""Progress lines cut a stable id of more characters to its first 14, an ellipsis, and its last 6."""

_ENDS: Final = frozenset[Outcome]({"success", "failed"})


class Run(Struct):
    """One run of a colony. `key` never changes; `run_ids` are the ids as written; `states` are those it was in.

    Both lists are unique and in order of first sight. `stable` is the stable id as `stable_key` gives it.
    """

    key: str
    thread: str
    stable: str | None = None
    run_ids: list[str] = []
    states: list[str] = []
    outcome: Outcome = "running"

    @property
    def ended(self) -> bool:
        """Whether the run was said to be over."""
        return self.outcome in _ENDS


def stable_key(stable: str) -> str:
    """Give the form in which a full and a shortened stable id are equal: the first 14 and the last 6 characters."""
    shortened = _SHORTENED.match(stable)
    if shortened:
        return f"{shortened[1]}…{shortened[2]}"
    return f"{stable[:_HEAD]}…{stable[-_TAIL:]}" if len(stable) > _SHORTENED_ABOVE else stable


def split_run(run: str) -> tuple[str | None, str | None]:
    """Split a run id into its runtime id and its stable id, either of which may be missing."""
    primary, _, stable = run.partition("|")
    if not stable and primary.startswith(_STABLE_FROM):
        return None, primary
    return primary, stable or None


class Runs:
    """Runs grouped from signals, which must come in the order of their thread."""

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self._opened: Counter[str] = Counter()
        self._by_stable: dict[str, Run] = {}
        self._by_runtime: dict[tuple[str, str], Run] = {}
        self._latest: dict[str, Run] = {}

    def add(self, thread: str, signal: ColonySignal) -> Run:
        """Give the run that a signal of a thread belongs to, changed by it; opened when there is none yet."""
        runtime, written = split_run(signal.run) if signal.run else (None, None)
        stable = stable_key(written) if written else None
        run = self._find(thread, runtime, stable, goes_on=signal.outcome not in _ENDS) or self._open(thread)
        if stable:
            run.stable = stable
            self._by_stable[stable] = run
        if runtime:
            self._by_runtime[thread, runtime] = run
        self._latest[thread] = run
        _note(run, signal)
        return run

    def _find(self, thread: str, runtime: str | None, stable: str | None, *, goes_on: bool) -> Run | None:
        if stable and stable in self._by_stable:
            return self._by_stable[stable]
        unnamed = None if stable else self._latest.get(thread)
        run = self._by_runtime.get((thread, runtime)) if runtime else unnamed
        if run is None or (stable and run.stable):
            return None
        # A process counts from c1 again: what is under way after the end is another run.
        return None if run.ended and goes_on else run

    def _open(self, thread: str) -> Run:
        self._opened[thread] += 1
        run = Run(key=f"{thread}#{self._opened[thread]}", thread=thread)
        self.runs.append(run)
        return run


def _note(run: Run, signal: ColonySignal) -> None:
    if signal.run and signal.run not in run.run_ids:
        run.run_ids.append(signal.run)
    if signal.state not in run.states:
        run.states.append(signal.state)
    # DONE and the report of one run may disagree: a failure that was said stays.
    if signal.outcome in _ENDS and run.outcome != "failed":
        run.outcome = signal.outcome
