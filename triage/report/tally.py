"""The counts of one source, as the origin's `sessions[]` has them.

Counted are occurrences in words, not what they mean: a quoted signal counts here, while runs come from signal events.
"""

from collections import Counter
from typing import TYPE_CHECKING, Final

from msgspec import UNSET

from ingest.processors.colony import mentions
from ingest.processors.gaps import gap_codes
from schemas.event import CanonicalEvent
from triage.report.ideas import ideas_in
from triage.report.model import Session, SummaryEntry

if TYPE_CHECKING:
    from triage.report.model_parts import Idea

_USERS: Final = frozenset({"user", "operator"})
_ASSISTANTS: Final = frozenset({"assistant", "agent", "bot"})
_ENTRIES: Final = frozenset({"message", "tool_call", "tool_result", "signal"})

MAX_IDEAS: Final = 1000
"""Ideas kept of one source; more are no inbox that anybody reads."""


class Tally:
    """Counts of one source. `by_entry` counts a session file's entries, not the events an entry gives."""

    def __init__(
        self, file: str, path: str, updated_at: str, *, by_entry: bool, file_format: str | None = None
    ) -> None:
        self.file = file
        self._session = Session(file=file, path=path, updated_at=updated_at, format=file_format or UNSET)
        self._by_entry = by_entry
        self._entry = ""
        self._signals: Counter[str] = Counter()
        self._gaps: Counter[str] = Counter()
        self._providers: Counter[str] = Counter()
        self._roles: Counter[str] = Counter()
        self._ideas: list[Idea] = []
        self._summaries: list[SummaryEntry] = []

    def label(self, event: CanonicalEvent) -> str:
        """Say where words of an event come from, as summaries and ideas name it."""
        return self.file if self._by_entry else f"{self.file}:{event.source.provider}"

    def add(self, event: CanonicalEvent, unknown_role: str | None) -> None:
        """Count one event; `unknown_role` is its provider's word, where nobody knows what it means."""
        self._count(event, unknown_role)
        self._providers[event.source.provider] += 1
        if event.event.type == "tool_call":
            return  # its text is ours, a name and arguments: the origin does not read it either
        text = event.event.text
        self._signals.update(mentions(text))
        self._gaps.update(gap_codes(event))
        if len(self._ideas) < MAX_IDEAS:
            kind = "session" if self._by_entry else "event"
            self._ideas.extend(ideas_in(text, kind, self.label(event), event.event.role))

    def summarised(self, entry: SummaryEntry) -> None:
        """Keep what a summary of this source leaves open."""
        self._summaries.append(entry)

    def lines(self, total: int, scanned: int) -> None:
        """Say how many lines the file has, and how many were read."""
        self._session.total_line_count = total
        self._session.scanned_line_count = scanned
        self._session.truncated_line_count = max(0, total - scanned)

    def place(self, workspace: str | None, thread_id: str | None) -> None:
        """Say which conversation the file holds."""
        self._session.workspace = workspace or UNSET
        self._session.thread_id = thread_id or UNSET

    def session(self) -> Session:
        """Give the counts."""
        session = self._session
        session.colony_signals = dict(sorted(self._signals.items()))
        session.tooling_gaps = dict(sorted(self._gaps.items()))
        session.idea_candidates = self._ideas[:MAX_IDEAS]
        session.branch_summaries = self._summaries
        session.unknown_roles = dict(sorted(self._roles.items())) or UNSET
        if not self._by_entry:
            session.providers = dict(sorted(self._providers.items()))
        return session

    def _count(self, event: CanonicalEvent, unknown_role: str | None) -> None:
        if unknown_role is not None:
            self._roles[unknown_role or "(none)"] += 1
        if self._by_entry:
            entry = (event.meta.message_id or event.event.id).partition("#")[0]
            if event.event.type not in _ENTRIES or entry == self._entry:
                return
            self._entry = entry
        self._session.message_count += 1
        if unknown_role is None:
            self._session.user_messages += event.event.role in _USERS
            self._session.assistant_messages += event.event.role in _ASSISTANTS
