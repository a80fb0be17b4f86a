"""What each thread's end looks like: the little that deciding who waits for whom needs, in bounded memory.

Events may come from several sources and in any order between them: everything is kept by its moment, never by its
arrival. Within one source and branch the order of arrival is the truth, so a clock that jumps back moves nothing.
"""

from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from ingest.processors.signals import evidence_of
from schemas.event import CanonicalEvent
from triage.report.asking import MAX_LOOKED_AT, AskKind, ask_tool, last_words
from triage.report.model import Where, Who
from triage.report.speakers import Speaker, is_chat, speaker

KEPT_TURNS: Final = 4
"""Words of one speaker that are kept: a person who asks thrice in a row is one ask with two more."""

KEPT: Final = 32
"""Speakers, calls, results and branches of one thread that are kept, the latest; more never decide who waits."""

STOPS: Final = {"aborted": "aborted", "error": "failed", "failed": "failed"}
"""Labels of a status that ends a turn, and the kind of what then waits."""

REACTION: Final = "reaction"
EDIT: Final = "edit"
SESSION_NAME: Final = "session-name"
INFERRED: Final = "time-inferred"

K = TypeVar("K")
V = TypeVar("V")

Moment = tuple[str, int]
"""A time (ISO 8601, comparable as text) and the order of arrival among equals."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Something said or done that may wait: its moment, its place, and the end of its words."""

    at: Moment
    event_id: str
    entry: str
    who: Who
    where: Where
    since: str
    inferred: bool
    words: str
    edits: bool = False
    blocked: str | None = None
    """The line in which an agent says that it is blocked."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool that asks the operator."""

    turn: Turn
    kind: AskKind


@dataclass(slots=True)
class Thread:
    """The end of one conversation."""

    chat: bool
    title: str | None = None
    spoke: Moment | None = None
    """When the operator last spoke."""
    turns: dict[tuple[Speaker, str], list[Turn]] = field(default_factory=dict)
    worked: dict[str, Moment] = field(default_factory=dict)
    """When each role last called a tool."""
    calls: dict[str, Call] = field(default_factory=dict)
    results: dict[str, None] = field(default_factory=dict)
    stopped: tuple[Turn, str] | None = None
    """The last error or abort, and its kind."""
    clocks: dict[tuple[int, str | None], str] = field(default_factory=dict)


class Threads:
    """All threads, folded event by event."""

    def __init__(self) -> None:
        self._threads: dict[tuple[str, str], Thread] = {}
        self._arrived = 0

    def ends(self) -> list[Thread]:
        """Give the threads in order of their names, so that equal input gives an equal report."""
        return [self._threads[name] for name in sorted(self._threads)]

    def title(self, provider_key: str, thread_id: str) -> str | None:
        """Give the title of a thread, if it has one."""
        thread = self._threads.get((provider_key, thread_id))
        return thread.title if thread else None

    def add(self, event: CanonicalEvent, source: int) -> Moment:
        """Take one event, as the next one of the source with this number; gives its moment."""
        thread = self._thread(event)
        at = self._moment(thread, event, source)
        if event.meta.conversation_title:
            thread.title = event.meta.conversation_title
        match event.event.type:
            case "message":
                _say(thread, event, at)
            case "tool_call":
                _call(thread, event, at)
            case "tool_result":
                _remember(thread.results, event.meta.tool_call_id or "", None)
            case "status":
                _status(thread, event, at)
            case _:
                pass  # a signal or a summary is nobody's word
        return at

    def _thread(self, event: CanonicalEvent) -> Thread:
        name = (event.source.provider_account_key, event.source.thread_id)
        thread = self._threads.get(name)
        if thread is None:
            thread = self._threads[name] = Thread(is_chat(event.source.provider))
        return thread

    def _moment(self, thread: Thread, event: CanonicalEvent, source: int) -> Moment:
        self._arrived += 1
        clock = (source, event.source.branch_id)
        now = max(event.event.timestamp_iso, thread.clocks.get(clock, ""))
        _remember(thread.clocks, clock, now)
        return now, self._arrived


def _remember(memory: dict[K, V], key: K, value: V) -> None:
    """Put a value at the end of a bounded memory; the oldest goes."""
    memory.pop(key, None)
    memory[key] = value
    if len(memory) > KEPT:
        del memory[next(iter(memory))]


def _say(thread: Thread, event: CanonicalEvent, at: Moment) -> None:
    kind = speaker(event)
    if kind == "operator":
        thread.spoke = max(at, thread.spoke or at)
    elif kind is not None:
        name = (kind, event.meta.author_id or event.event.role)
        turns = thread.turns.get(name, [])
        _remember(thread.turns, name, _later(turns, turn_of(event, at)))


def _later(turns: list[Turn], turn: Turn) -> list[Turn]:
    """Add a turn in order of moments; an edit takes the place of what it edits."""
    if turn.edits:
        same = next((n for n, t in enumerate(turns) if t.entry == turn.entry), None)
        if same is not None:
            edited = replace(turn, at=turns[same].at, since=turns[same].since)
            return [*turns[:same], edited, *turns[same + 1 :]]
    return sorted([*turns, turn], key=lambda t: t.at)[-KEPT_TURNS:]


def _call(thread: Thread, event: CanonicalEvent, at: Moment) -> None:
    role = event.event.role
    thread.worked[role] = max(at, thread.worked.get(role, at))
    kind = ask_tool(event.meta.tool_name or event.event.text.partition(" ")[0])
    if kind:
        turn = turn_of(event, at)
        _remember(thread.calls, event.meta.tool_call_id or turn.event_id, Call(turn, kind))


def _status(thread: Thread, event: CanonicalEvent, at: Moment) -> None:
    labels = event.event.labels
    if REACTION in labels and speaker(event) == "operator":
        thread.spoke = max(at, thread.spoke or at)
    if SESSION_NAME in labels:
        thread.title = event.event.text.partition(": ")[2].strip() or None
    kind = next((STOPS[label] for label in STOPS if label in labels), None)
    if kind and (thread.stopped is None or thread.stopped[0].at < at):
        thread.stopped = (turn_of(event, at), kind)


def turn_of(event: CanonicalEvent, at: Moment) -> Turn:
    """Keep of an event what may be shown of it."""
    return Turn(
        at=at,
        event_id=event.event.id,
        entry=(event.meta.message_id or event.event.id).partition("#")[0],
        who=who_of(event),
        where=where_of(event),
        since=event.event.timestamp_iso,
        inferred=INFERRED in event.event.labels,
        words=_kept_words(event),
        edits=EDIT in event.event.labels,
        blocked=_blocked(event) if event.event.type == "message" else None,
    )


def _blocked(event: CanonicalEvent) -> str | None:
    if "locked" not in event.event.text and "loquead" not in event.event.text:
        return None
    return next((found.line for found in evidence_of(event) if found.code == "blocked"), None)


def _kept_words(event: CanonicalEvent) -> str:
    """Keep the end of what was said, the beginning of what was done."""
    text = event.event.text
    return last_words(text) if event.event.type == "message" else text[:MAX_LOOKED_AT]


def who_of(event: CanonicalEvent) -> Who:
    """Say who is behind an event."""
    return Who(
        provider_account_key=event.source.provider_account_key,
        role=event.event.role,
        author=event.meta.author_id,
        model=event.meta.model,
    )


def where_of(event: CanonicalEvent) -> Where:
    """Say in which conversation an event stands."""
    return Where(
        workspace=event.source.workspace,
        thread_id=event.source.thread_id,
        branch_id=event.source.branch_id,
        title=event.meta.conversation_title,
    )
