"""Takes events from all sources, each once, and folds them into what the report needs.

The first sight of an id counts. Memory grows with threads, tasks and ids (some 200 bytes an event), never with words.
"""

from collections import Counter
from typing import Final

from schemas.event import CanonicalEvent
from triage.report.evidence import EvidenceBook
from triage.report.model import Problem
from triage.report.runs import RunBook
from triage.report.summaries import SummaryBook
from triage.report.tally import Tally
from triage.report.threads import INFERRED, Threads
from triage.report.words import quote

MAX_PROBLEMS: Final = 500
"""Problems that are named one by one; a file of nothing but bad lines is counted to its end all the same."""


class Gatherer:
    """Everything that is known after the events given so far.

    `cutoff` is an ISO time: earlier events of sources that obey it are left out, those at it and those whose time is
    unknown (label `time-inferred`) are kept. `task_ids` are the board's.
    """

    def __init__(self, cutoff: str, task_ids: list[str]) -> None:
        self.cutoff = cutoff
        self.threads = Threads()
        self.evidence = EvidenceBook(task_ids)
        self.runs = RunBook()
        self.summaries = SummaryBook()
        self.tallies: list[Tally] = []
        self.problems: list[Problem] = []
        self.problem_counts: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        """Elements that rightly gave no event: `empty` and `hidden`; known ones are `duplicates`."""
        self.events = 0
        self.duplicates = 0
        self.too_old = 0
        self._seen: dict[str, int] = {}

    def source(self, tally: Tally) -> int:
        """Begin a source; its number goes with each of its events."""
        self.tallies.append(tally)
        return len(self.tallies) - 1

    def add(self, event: CanonicalEvent, source: int, unknown_role: str | None = None, *, obeys_cutoff: bool) -> None:
        """Take one event of a source."""
        if obeys_cutoff and event.event.timestamp_iso < self.cutoff and INFERRED not in event.event.labels:
            self.too_old += 1
            return
        if self._known(event):
            return
        self.events += 1
        tally = self.tallies[source]
        tally.add(event, unknown_role)
        at = self.threads.add(event, source)
        tasks = self.evidence.add(event)
        self.runs.add(event, at, tasks)
        if entry := self.summaries.add(event, at, tally.label(event)):
            tally.summarised(entry)

    def problem(self, problem: Problem) -> None:
        """Count something that could not be read, and name it while there is room."""
        self.problem_counts[problem.severity] += 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(problem)

    def _known(self, event: CanonicalEvent) -> bool:
        """Whether an event of this id was taken before; other words under the same id are worth a warning."""
        content = hash((event.event.type, event.event.role, event.event.text))
        first = self._seen.get(event.event.id)
        if first is None:
            self._seen[event.event.id] = content
            return False
        self.duplicates += 1
        if first != content:
            place = f"thread {event.source.thread_id}"
            detail = f"another event has the id {event.event.id}; the first one counts"
            words = quote(event.event.text, 80)
            self.problem(
                Problem(severity="warning", where=place, reason="same-id-other-content", detail=detail, sample=words)
            )
        return True
