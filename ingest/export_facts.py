"""What must be known of a whole thread before its first message is written: held by id, never by its words."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from adapters.exports.pam_own import ARCHIVED
from ingest.export_message import ROLES, Thread
from schemas.event import CanonicalEvent
from schemas.pam import Participant

MAX_PARTICIPANTS: Final = 1000
"""People listed of one conversation; a message cannot name them anyway."""

EDIT: Final = "edit"


@dataclass(slots=True)
class Facts:
    """A thread's first and last time, title, model, who took part, and how its messages hang together.

    Events come in order of time. A parent is always an earlier event, so that the links form a tree whatever the log
    holds: the last event of the message that an event names as its parent, or the event before it of its own message.
    """

    parents: dict[str, str | None] = field(default_factory=dict)
    children: dict[str, list[str]] = field(default_factory=dict)
    repeated: int = 0
    """Events with an id that an earlier one of the thread has: they are written once."""
    created_at: str = ""
    updated_at: str = ""
    title: str | None = None
    workspace: str | None = None
    channel_id: str | None = None
    imported_at: str | None = None
    archived: bool = True
    models: Counter[str] = field(default_factory=Counter)
    participants: dict[tuple[str, str | None], Participant] = field(default_factory=dict)
    _latest: dict[str, tuple[str, str | None]] = field(default_factory=dict)

    @property
    def thread(self) -> Thread:
        """What all messages share."""
        return Thread(self.title, self.workspace, self.channel_id, self.imported_at)

    @property
    def model(self) -> str | None:
        """The model that gave most of the messages; of equals the first."""
        return max(self.models, key=self.models.__getitem__, default=None)

    def take(self, events: Iterable[CanonicalEvent]) -> None:
        """Look at all events of the thread."""
        for event in events:
            if event.event.id in self.parents:
                self.repeated += 1
            else:
                self._note(event)

    def _note(self, event: CanonicalEvent) -> None:
        body, meta = event.event, event.meta
        if not self.parents:
            self.created_at, self.workspace, self.channel_id = (
                body.timestamp_iso,
                event.source.workspace,
                event.source.channel_id,
            )
            self.imported_at = meta.ingested_at_iso
        self.updated_at = body.timestamp_iso
        self.title = meta.conversation_title or self.title
        self.archived = self.archived and ARCHIVED in body.labels
        if meta.model:
            self.models[meta.model] += 1
        self._meet(event)
        self._hang(event)

    def _meet(self, event: CanonicalEvent) -> None:
        role, author = ROLES[event.event.role], event.meta.author_id
        if (role, author) not in self.participants and len(self.participants) < MAX_PARTICIPANTS:
            self.participants[role, author] = Participant(role=role, provider_id=author)

    def _hang(self, event: CanonicalEvent) -> None:
        identity, own, named = event.event.id, event.meta.message_id, event.meta.parent_message_id
        before = self._latest.get(own) if own is not None else None
        parent: str | None = None
        if before is not None and before[1] == named and EDIT not in event.event.labels:
            parent = before[0]
        elif named is not None and named in self._latest:
            parent = self._latest[named][0]
        self.parents[identity] = parent
        if parent is not None:
            self.children.setdefault(parent, []).append(identity)
        if own is not None:
            self._latest[own] = (identity, named)
