"""What the triage remembers of a thread: bounded, and the same in whatever order, and however often, events come.

Everything is the greatest or the latest of something, by the time that an event has and then by its id; nothing is
counted. So a replay, an import in another order, or a batch that was applied already changes nothing; only an event
that a replay has mended takes the place of the former one.
"""

from typing import Final

from msgspec import Struct

from ingest.processors.deduplicate import MENDED_LABEL
from ingest.processors.headings import summary_items
from ingest.processors.signals import SIGNAL_LABEL
from ingest.processors.summaries import IDLE_LABEL
from ingest.processors.text import shorten
from schemas.event import CanonicalEvent
from triage.report.asking import MAX_LOOKED_AT, AskKind, ask_tool, find_ask, last_words
from triage.report.runs import sets_out_again
from triage.report.speakers import is_chat, speaker
from triage.report.threads import STOPS
from triage.report.waiting import asked_words
from triage.report.words import quote

STATE_VERSION: Final = 1

MAX_REFS: Final = 20
"""References that are kept, those named last: what the thread is about now."""

MAX_ITEMS: Final = 10
"""Open items of the latest summary that are kept."""

MAX_NAME: Final = 400
"""Characters of a title, a reference or an item; longer ones are cut."""

_TALK: Final = frozenset({"message", "tool_call", "tool_result"})


class Moment(Struct, frozen=True, order=True, array_like=True):
    """When something happened, and the event: of two at the same time the greater id counts as the later.

    What a replay has mended is later than the same event as it was.
    """

    iso: str = ""
    event_id: str = ""
    mended: bool = False

    def replaces(self, other: "Moment") -> bool:
        """Whether what happened then counts, and no longer what happened at the other moment."""
        return self > other or (self.mended and self == other)

    def is_of(self, other: "Moment") -> bool:
        """Whether both are of one event."""
        return self.event_id == other.event_id


class Said(Struct, frozen=True, array_like=True):
    """The last words of an agent, or what broke its turn off: `kind` says what they ask or how it ended."""

    at: Moment = Moment()
    role: str = "assistant"
    words: str = ""
    kind: str | None = None


class ThreadState(Struct, kw_only=True, omit_defaults=True):
    """A thread as far as its events are known; all times are those of events, ISO 8601.

    `went_iso` is when somebody last spoke or worked there, `followed_iso` when a run last set out or succeeded,
    `summarised_iso` is of the latest summary, `idle_iso` of the last event before the thread went idle.
    """

    version: int = STATE_VERSION
    provider_account_key: str = ""
    thread_id: str = ""
    workspace: str = ""
    workspace_at: Moment = Moment()
    title: str = ""
    title_at: Moment = Moment()
    last: Moment = Moment()
    went_iso: str = ""
    followed_iso: str = ""
    summarised_iso: str = ""
    idle_iso: str = ""
    said: Said = Said()
    stopped: Said = Said()
    summary_at: Moment = Moment()
    next_steps: list[str] = []
    blocked: list[str] = []
    refs: dict[str, str] = {}
    """References and when each was last named."""
    signals: dict[str, Moment] = {}
    """Codes of signals, such as a tooling gap or a rate limit, and when each was last seen."""

    @property
    def open_ask(self) -> Said | None:
        """What an agent asked last, when nothing has come after it."""
        return self.said if self.said.kind and self.said.at.iso >= self.went_iso else None

    @property
    def broken_off(self) -> Said | None:
        """The error that ended the thread; an abort is an operator's own decision."""
        return self.stopped if self.stopped.kind == "failed" and self.stopped.at.iso >= self.went_iso else None

    @property
    def ended_iso(self) -> str:
        """When somebody last spoke or worked there, or was broken off."""
        return max(self.went_iso, self.stopped.at.iso)

    @property
    def is_idle(self) -> bool:
        """Whether it was said to be idle, and nothing has come since."""
        return bool(self.idle_iso) and self.idle_iso >= self.last.iso


def hear(state: ThreadState, event: CanonicalEvent) -> None:
    """Take an event of `conversations.events` into a thread's state."""
    body = event.event
    at = _moment(event)
    if body.type not in {"summary", "signal"}:
        state.last = max(state.last, at)
    if event.source.workspace and at.replaces(state.workspace_at):
        state.workspace, state.workspace_at = workspace_of(event), at
    if event.meta.conversation_title and at.replaces(state.title_at):
        state.title, state.title_at = shorten(event.meta.conversation_title, MAX_NAME), at
    if body.refs:
        _refer(state, event)
    if body.type in _TALK:
        state.went_iso = max(state.went_iso, at.iso)
        _say(state, event, at)
    elif body.type == "status" and at.replaces(state.stopped.at):
        kind = next((STOPS[label] for label in STOPS if label in body.labels), None)
        if kind:
            state.stopped = Said(at, body.role, quote(body.text), kind)
        elif at.is_of(state.stopped.at):
            state.stopped = Said(at)


def notice(state: ThreadState, event: CanonicalEvent) -> None:
    """Take an event of `conversations.signals` into a thread's state."""
    at = _moment(event)
    code = next((label[len(SIGNAL_LABEL) :] for label in event.event.labels if label.startswith(SIGNAL_LABEL)), None)
    if code is not None:
        state.signals = {**state.signals, code: max(at, state.signals.get(code, at))}
    elif sets_out_again(event.event.text):
        state.followed_iso = max(state.followed_iso, at.iso)


def summarise(state: ThreadState, event: CanonicalEvent) -> None:
    """Take an event of `conversations.summaries` into a thread's state."""
    at = _moment(event)
    state.summarised_iso = max(state.summarised_iso, at.iso)
    if IDLE_LABEL in event.event.labels:
        state.idle_iso = max(state.idle_iso, at.iso)
    if at.replaces(state.summary_at):
        items = summary_items(event.event.text)
        state.summary_at = at
        state.next_steps = [shorten(item, MAX_NAME) for item in items.next_steps[:MAX_ITEMS]]
        state.blocked = [shorten(item, MAX_NAME) for item in items.blocked[:MAX_ITEMS]]


def _moment(event: CanonicalEvent) -> Moment:
    return Moment(event.event.timestamp_iso, event.event.id, MENDED_LABEL in event.event.labels)


def workspace_of(event: CanonicalEvent) -> str:
    """Give the workspace that an event names, as the board's side writes paths; empty when it names none.

    It is a name to compare with, never a path to open.
    """
    named = event.source.workspace or ""
    if not named.isprintable() or len(named) > _MAX_WORKSPACE:
        return ""
    return named.rstrip("/") or named


_MAX_WORKSPACE: Final = 1024
"""Characters: Linux' longest path is four times that, and nobody's project lies there."""


def _say(state: ThreadState, event: CanonicalEvent, at: Moment) -> None:
    """Keep the last words of an agent with what they ask; in a chat among people nobody is kept."""
    if not at.replaces(state.said.at):
        return
    if speaker(event) != "agent" or is_chat(event.source.provider):
        if at.is_of(state.said.at):  # it was taken for an agent's
            state.said = Said(at)
        return
    if event.event.type == "message":
        # Whether it asks is found when the batch is through (`settle_ask`): only the last words of a thread count.
        state.said = Said(at, event.event.role, last_words(event.event.text), _UNREAD)
    elif event.event.type == "tool_call":
        kind = ask_tool(event.meta.tool_name or event.event.text.partition(" ")[0])
        words = asked_words(event.event.text[:MAX_LOOKED_AT]) if kind else ""
        state.said = Said(at, event.event.role, words, kind)


_UNREAD: Final = "unread"


def settle_ask(state: ThreadState) -> None:
    """Find what the last words of a thread ask, once for all events of a batch; must come before it is stored."""
    if state.said.kind == _UNREAD:
        ask = find_ask(state.said.words)
        kind: AskKind | None = ask.kind if ask else None
        state.said = Said(state.said.at, state.said.role, ask.words if ask else "", kind)


def _refer(state: ThreadState, event: CanonicalEvent) -> None:
    refs = event.event.refs
    if refs is None:
        return
    iso = event.event.timestamp_iso
    named = [name for name in (*refs.task_ids, *refs.issue_ids) if len(name) <= MAX_NAME]
    kept = {**state.refs, **{name: max(iso, state.refs.get(name, "")) for name in named}}
    # A reference that fell out was named before all that stayed, so it never decides what stays the next time.
    latest = sorted(kept.items(), key=lambda entry: (entry[1], entry[0]), reverse=True)[:MAX_REFS]
    state.refs = dict(latest)
