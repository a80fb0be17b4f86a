"""What is remembered of a thread until it goes idle: a few words and references, however long the thread.

At most some 12,000 characters: see the limits below; a usual state has 1 KiB. The offset of the last event applied is
part of it, so that replaying events changes nothing.
"""

from typing import Final

from msgspec import Struct, field

from ingest.processors.colony import OUTCOME_LABEL, STATE_LABEL
from ingest.processors.headings import SummaryItems, summary_items
from ingest.processors.text import shorten
from ingest.processors.times import to_ms
from schemas.event import CanonicalEvent, Refs, Source

STATE_VERSION: Final = 1

MAX_WORDS: Final = 400
"""Characters of the first ask and of the last words: a paragraph."""
MAX_LINE: Final = 160
"""Characters of an open item, a title, a state: two lines of a terminal."""
MAX_ITEMS: Final = 10
"""Open items kept of each list."""
MAX_REFS: Final = 20
"""References kept of each kind: the first, which are what the thread is about."""
MAX_SPEAKERS: Final = 8
MAX_NAME: Final = 60

HUMAN_ROLES: Final = frozenset({"user", "operator"})
MACHINE_ROLES: Final = frozenset({"assistant", "agent", "bot"})

_STATE_LABELS: Final = ("error", "aborted", "rate-limit")
_CLOSING: Final = " \t\n*_`)\"'>"


class ThreadState(Struct, kw_only=True, omit_defaults=True):
    """A thread as far as its events were applied; times of the log and of events are Unix milliseconds.

    `due_ms` is when the thread counts as idle, 0 when its summary was made or there is nothing to say of it.
    """

    version: int = STATE_VERSION
    source: Source
    applied: int
    first_iso: str
    last_iso: str
    last_id: str
    latest_ms: int
    due_ms: int = 0
    title: str | None = None
    messages: int = 0
    tool_calls: int = 0
    summaries: int = 0
    speakers: list[str] = []
    first_ask: str = ""
    last_words: str = ""
    """As said, cut: they change with every message, and become one line only when the summary is written."""
    last_role: str = ""
    last_state: str = ""
    asks: bool = False
    """Whether the last words are a question that a machine put and no person answered."""
    items: SummaryItems = SummaryItems()
    refs: Refs = field(default_factory=Refs)


def begin(event: CanonicalEvent) -> ThreadState:
    """Give the state of a thread before its first event."""
    source = event.source
    return ThreadState(
        source=Source(
            provider=source.provider,
            provider_account_key=source.provider_account_key,
            thread_id=source.thread_id,
            account=source.account,
            workspace=source.workspace,
            channel_id=source.channel_id,
        ),
        applied=-1,
        first_iso=event.event.timestamp_iso,
        last_iso=event.event.timestamp_iso,
        last_id=event.event.id,
        latest_ms=to_ms(event.event.timestamp_iso),
    )


def apply(state: ThreadState, event: CanonicalEvent, offset: int) -> bool:
    """Take an event into a thread's state; False when the state had it already."""
    if offset <= state.applied:
        return False
    body = event.event
    state.applied = offset
    state.last_iso, state.last_id = body.timestamp_iso, body.id
    state.first_iso = min(state.first_iso, body.timestamp_iso)
    state.latest_ms = max(state.latest_ms, to_ms(body.timestamp_iso))
    if event.meta.conversation_title:
        state.title = shorten(event.meta.conversation_title, MAX_LINE)
    if body.refs:
        state.refs = _add_refs(state.refs, body.refs)
    if body.type == "message":
        _hear(state, event)
    elif body.type == "tool_call":
        state.tool_calls += 1
    elif body.type == "summary":
        state.summaries += 1
        state.items = _bounded(summary_items(body.text))
    else:
        state.last_state = _state_of(event) or state.last_state
    return True


def something_said(state: ThreadState) -> bool:
    """Whether there is anything to summarise; a change of model alone is nothing."""
    return bool(state.messages or state.tool_calls or state.summaries or state.last_state)


def _hear(state: ThreadState, event: CanonicalEvent) -> None:
    body = event.event
    state.messages += 1
    state.last_words, state.last_role = body.text[: 2 * MAX_WORDS], body.role
    state.last_state = ""
    state.asks = body.role in MACHINE_ROLES and body.text[-MAX_WORDS:].rstrip(_CLOSING).endswith(("?", "？", "؟"))  # noqa: RUF001 - question marks of other scripts
    if not state.first_ask and body.role in HUMAN_ROLES:
        state.first_ask = shorten(body.text, MAX_WORDS)
    if len(state.speakers) < MAX_SPEAKERS:
        name = event.meta.author_id or (event.meta.model if body.role in MACHINE_ROLES else None)
        speaker = f"{body.role} {name[:MAX_NAME]}" if name else body.role
        if speaker not in state.speakers:
            state.speakers.append(speaker)


def _state_of(event: CanonicalEvent) -> str:
    labels = event.event.labels
    named = [label for label in labels if label in _STATE_LABELS or label.startswith((STATE_LABEL, OUTCOME_LABEL))]
    if event.event.type == "tool_result" or not named:
        return ""
    return shorten(f"{', '.join(named)}: {event.event.text}", MAX_LINE)


def _bounded(items: SummaryItems) -> SummaryItems:
    return SummaryItems(*(_lines(found) for found in (items.next_steps, items.in_progress, items.blocked)))


def _lines(items: list[str]) -> list[str]:
    return [shorten(item, MAX_LINE) for item in items[:MAX_ITEMS]]


def _add_refs(known: Refs, new: Refs) -> Refs:
    return Refs(
        task_ids=_first(known.task_ids, new.task_ids),
        issue_ids=_first(known.issue_ids, new.issue_ids),
        run_ids=_first(known.run_ids, new.run_ids),
    )


def _first(known: list[str], new: list[str]) -> list[str]:
    short = [item for item in new if len(item) <= MAX_LINE]
    return list(dict.fromkeys([*known, *short]))[:MAX_REFS]
