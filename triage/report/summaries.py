"""What summaries leave open: next steps, what is in progress, what is blocked.

A summary is an event of type `summary`, whatever its words. Words between summary tags, or introduced as a summary,
count too, as in the origin (formats/session-triage-origin.md 1.4), except in tool output.
"""

from collections.abc import Iterator
from typing import Final

from ingest.processors.headings import summary_items
from schemas.event import CanonicalEvent
from triage.report.model import SummaryEntry, Waiting
from triage.report.summary_store import unique
from triage.report.threads import Moment, Turn, turn_of
from triage.report.words import one_line, quote

MAX_SUMMARY: Final = 200_000
"""Characters of a summary that are looked at; real ones have under 20,000."""

_TAG: Final = "</summary>"
_HINTS: Final = (
    "summary of a branch",
    "conversation history before this point was compacted",
    "the following is a summary",
)


class SummaryBook:
    """Collects summaries; of each thread it remembers the latest."""

    def __init__(self) -> None:
        self._latest: dict[tuple[str, str], tuple[Turn, list[str]]] = {}

    def add(self, event: CanonicalEvent, at: Moment, source: str) -> SummaryEntry | None:
        """Take an event; gives what it leaves open when it is a summary."""
        text = summary_text(event)
        if text is None:
            return None
        items = summary_items(text[:MAX_SUMMARY])
        entry = SummaryEntry(
            next_steps=_clean(items.next_steps),
            in_progress=_clean(items.in_progress),
            blocked=_clean(items.blocked),
            source=source,
            seen_at=event.event.timestamp_iso,
        )
        place = (event.source.provider_account_key, event.source.thread_id)
        known = self._latest.get(place)
        if known is None or known[0].at <= at:
            self._latest[place] = (turn_of(event, at), entry.blocked)
        return entry

    def waiting(self) -> Iterator[Waiting]:
        """Give the blocked items of each thread's latest summary: a newer summary without one has resolved it."""
        for place in sorted(self._latest):
            turn, blocked = self._latest[place]
            for item in blocked:
                yield Waiting(
                    kind="blocked",
                    rule="summary-blocked",
                    words=quote(item),
                    where=turn.where,
                    who=turn.who,
                    since=turn.since,
                    time_inferred=turn.inferred,
                    event_id=turn.event_id,
                )


def summary_text(event: CanonicalEvent) -> str | None:
    """Give the words that hold a summary, or None when there is none in the event."""
    text = event.event.text
    if event.event.type == "summary":
        return text
    if event.event.type != "message" or ("ummary" not in text and "compacted" not in text and "UMMARY" not in text):
        return None
    lowered = text[:MAX_SUMMARY].lower()
    return text if _TAG in lowered or any(hint in lowered for hint in _HINTS) else None


def _clean(items: list[str]) -> list[str]:
    return unique([one_line(item) for item in items])
