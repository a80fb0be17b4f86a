"""Which words of which events name a board's tasks.

An event names a task by its references (`refs.taskIds`, case ignored), or, for ids that are no `TASK-…`, by the exact
id in its text. Per task the newest few are kept, and all are counted.
"""

import re
from collections.abc import Iterable
from itertools import repeat
from typing import Final

from schemas.event import CanonicalEvent
from triage.report.model_parts import Evidence
from triage.report.words import around, quote

KEPT_EVIDENCE: Final = 3
"""Quotations of one task that are kept: what was said last decides, the rest is counted."""

_WORD: Final = re.compile(r"[^\s,;()\[\]{}<>\"'`|/]+")
_ENDS: Final = ".:!?*_…"
"""What may end a sentence, or stress a word, beside an id; real ids hold letters, digits, dots and hyphens."""

_REFERENCE: Final = re.compile(r"TASK-", re.IGNORECASE)


class EvidenceBook:
    """Collects evidence for the tasks with these ids."""

    def __init__(self, ids: Iterable[str]) -> None:
        self._by_name: dict[str, str] = {}
        for identifier in ids:
            self._by_name.setdefault(identifier.upper(), identifier)
        self._exact = {i for i in self._by_name.values() if not _REFERENCE.match(i)}
        # A few substring searches spare most texts from being taken apart.
        self._prefixes = {i.partition("-")[0] for i in self._exact}
        self._kept: dict[str, list[Evidence]] = {}
        self._counts: dict[str, int] = {}

    def named(self, event: CanonicalEvent) -> list[str]:
        """Give the ids of the tasks that an event names, in order of first sight."""
        found: dict[str, None] = {}
        refs = event.event.refs
        for name in refs.task_ids if refs else ():
            if identifier := self._by_name.get(name.upper()):
                found[identifier] = None
        if self._exact and any(prefix in event.event.text for prefix in self._prefixes):
            words = map(str.strip, _WORD.findall(event.event.text), repeat(_ENDS))
            found.update(dict.fromkeys(word for word in words if word in self._exact))
        return list(found)

    def add(self, event: CanonicalEvent) -> list[str]:
        """Take an event; gives the ids that it names."""
        named = self.named(event)
        for identifier in named:
            self._counts[identifier] = self._counts.get(identifier, 0) + 1
            kept = self._kept.setdefault(identifier, [])
            if len(kept) == KEPT_EVIDENCE and event.event.timestamp_iso < kept[-1].timestamp_iso:
                continue
            kept.append(evidence_of(event, identifier))
            kept.sort(key=lambda e: (e.timestamp_iso, e.event_id), reverse=True)
            del kept[KEPT_EVIDENCE:]
        return named

    def of(self, identifier: str) -> list[Evidence]:
        """Give what is kept for a task, newest first."""
        return list(self._kept.get(identifier, ()))

    def count(self, identifier: str) -> int:
        """Say how many events name a task."""
        return self._counts.get(identifier, 0)


def evidence_of(event: CanonicalEvent, identifier: str) -> Evidence:
    """Quote the words of an event around the id of a task."""
    text = event.event.text
    start = text.upper().find(identifier.upper()) if len(text.upper()) == len(text) else text.find(identifier)
    words = quote(text) if start < 0 else around(text, start, start + len(identifier))
    return Evidence(
        event_id=event.event.id,
        provider_account_key=event.source.provider_account_key,
        thread_id=event.source.thread_id,
        timestamp_iso=event.event.timestamp_iso,
        role=event.event.role,
        words=words,
    )
