"""One Codex rollout file while it is read: who each event is, and what is the same thing in another form.

Identity: UUIDv5 over `codex`, the turn, the kind and the words, and for all but the first of equals in a turn the
occurrence number. Times and the file's own session are left out, for a fork writes its parent's lines again under its
own id with new times. A turn is known by its id where that is unique; where there is none by the session that the lines
were first written in, which a copy names in a `session_meta` of its own. Source: section 3.2 of the format page; B33.
"""

from typing import Final

from adapters.contract import Element, Heard, Skipped
from adapters.sessions.codex_events import read_line
from adapters.sessions.codex_forms import Forms
from adapters.sessions.codex_items import Reading
from adapters.sessions.codex_shapes import UUID, Item, Line
from adapters.sessions.drafts import OPERATOR_SHELL, Draft, Identity
from adapters.sessions.identity import Identities
from adapters.sessions.values import name, raw_time
from schemas.captured import CapturedEvent, RawTime, Thread

PROVIDER: Final = "codex"

AGENT: Final = "agent"
"""Role of what is said in a sub-agent's session: its prompts were written by a model too."""

_SPEAKERS: Final = frozenset({"user", "assistant"})
_STARTS: Final = frozenset({"task_started", "turn_started"})
_ENDS: Final = frozenset({"task_complete", "turn_complete", "turn_aborted"})


class Session:
    """Turns the lines of one file into elements, in file order.

    Keeps identities, the words (hashed) of the present turn, the names of called tools and the last time: about 100
    bytes an event, nothing of what was said.
    """

    def __init__(self, thread: Thread, *, sub_agent: bool, include_hidden: bool) -> None:
        self.thread = thread
        self._sub_agent = sub_agent
        self._include_hidden = include_hidden
        self._identities = Identities(PROVIDER)
        self._forms = Forms()
        self._origin = thread.thread_id
        self._turn: str | None = None
        self._model: str | None = None
        self._tools: dict[str, str] = {}
        self._last_time: RawTime | None = None

    def copies_from(self, session_id: str) -> None:
        """Note that the lines from here on were first written in another session."""
        self._origin, self._turn = session_id, None

    def read(self, line: Line, far_times: tuple[RawTime, ...]) -> list[Element] | str:
        """Give the elements of a line: its events, or one `Skipped`; words that say why when it cannot be read.

        Raises `RecursionError` for arguments nested deeper than the stack, before anything is remembered.
        """
        reading = read_line(line)
        time = raw_time(line.timestamp)
        self._mark_turn(line)
        nearby = far_times if self._last_time is None else (self._last_time, *far_times)
        elements: list[Element] = []
        if reading.drafts and (reading.outcome == "empty" or self._include_hidden):
            item = line.payload if isinstance(line.payload, Item) else line
            elements += [Heard(self.thread, event, nearby) for event in self._new(reading, item, time)]
            if known := len(reading.drafts) - len(elements):
                elements.append(Skipped("duplicate", reading.what, known))
        elif not reading.unknown_blocks:
            elements.append(Skipped(reading.outcome, reading.what))
        if reading.unknown_blocks:
            elements.append(Skipped("empty", "unknown block", reading.unknown_blocks))
        if time is not None:
            self._last_time = time
        return reading.fault or elements

    def told(self, draft: Draft, time: RawTime | None, far_times: tuple[RawTime, ...]) -> list[Element]:
        """Give an event that the session's own header makes."""
        events = self._new(Reading("session_meta", [draft]), Item(), time)
        return [Heard(self.thread, event, far_times) for event in events]

    def _mark_turn(self, line: Line) -> None:
        """Follow turns: where they begin and end, their ids and models."""
        payload = line.payload
        if not isinstance(payload, Item):
            return
        if line.type == "turn_context":
            self._model = name(payload.model) or self._model
            turn = name(payload.turn_id)
            if turn is not None and turn != self._turn:
                self._forms.next_turn()
            self._turn = turn
        elif line.type == "event_msg" and isinstance(payload.type, str):
            if payload.type in _STARTS:
                self._forms.next_turn()
                self._turn = name(payload.turn_id) or self._turn
            elif payload.type in _ENDS:
                self._forms.answered()

    def _new(self, reading: Reading, item: Item, time: RawTime | None) -> list[CapturedEvent]:
        """Give the events that no line before told, in whatever form, with their ids."""
        events: list[CapturedEvent] = []
        for event, identity in reading.drafts:
            if reading.form >= 0:
                prompt = event.role == "user" or OPERATOR_SHELL in event.labels
                if not self._forms.is_new(hash(identity), reading.form, prompt=prompt):
                    continue
            elif event.type in {"tool_call", "tool_result"}:
                self._forms.answered()
            event_id = self._identities.event_id(event.tool_call_id, (*self._scope(), *identity))
            if event_id is None:
                continue
            event.id = event_id
            self._put(event, item, time)
            events.append(event)
        return events

    def _scope(self) -> Identity:
        if self._turn is not None and UUID.fullmatch(self._turn):
            return ("turn", self._turn.lower())
        return ("session", self._origin, self._turn)

    def _put(self, event: CapturedEvent, item: Item, time: RawTime | None) -> None:
        event.times = [] if time is None else [time]
        event.message_id = name(item.id)
        if event.role == "assistant":
            event.model = self._model
        if self._sub_agent and event.role in _SPEAKERS:
            event.role = AGENT
        if event.tool_call_id is not None:
            if event.type == "tool_call" and event.tool_name is not None:
                self._tools[event.tool_call_id] = event.tool_name
            elif event.type == "tool_result":
                event.tool_name = self._tools.pop(event.tool_call_id, None)
