"""One Claude Code session file while it is read: who each event is, where it stands, and which thread it belongs to."""

from collections.abc import Sequence
from typing import Final

from adapters.contract import Element, Heard, Skipped
from adapters.sessions.claude_code_entries import TITLE, read_entry
from adapters.sessions.claude_code_identity import PROVIDER, ClaudeIdentities
from adapters.sessions.claude_code_shapes import Attached, Entry, Message, parent_of
from adapters.sessions.drafts import Draft, Identity, Reading
from adapters.sessions.tree import Place, Tree
from adapters.sessions.values import name, raw_time
from schemas.captured import CapturedEvent, RawTime, Thread

AGENT: Final = "agent"
"""Role of what is said in a sub-agent's conversation: its prompts were written by a model too."""

_SPEAKERS: Final = frozenset({"user", "assistant"})


class Session:
    """Turns the entries of one file into elements, in file order.

    Keeps the trees, the identities, the names of called tools and the last time: about 300 bytes an entry, nothing of
    what was said.
    """

    def __init__(self, session_id: str, agent_id: str | None, *, account: str | None, include_hidden: bool) -> None:
        self._session_id = session_id
        self._agent_id = agent_id
        self._account = account
        self._include_hidden = include_hidden
        self._identities = ClaudeIdentities()
        self._threads: dict[str, Thread] = {}
        self._trees: dict[str | None, Tree] = {}
        self._tools: dict[str, str] = {}
        self._written: tuple[str | None, list[Identity]] = (None, [])
        self._last_time: RawTime | None = None

    def read(self, entry: Entry, far_times: tuple[RawTime, ...]) -> list[Element] | str:
        """Give the elements of an entry: its events, or one `Skipped`; words that say why when it cannot be read.

        Raises `RecursionError` for arguments nested deeper than the stack, before anything is remembered.
        """
        reading = read_entry(entry)
        thread, agent = self._thread_of(entry), self._agent_of(entry)
        tree = self._trees.setdefault(agent, Tree())
        uuid, parent = name(entry.uuid), parent_of(entry)
        times = _times(entry)
        if reading.drafts and (reading.outcome == "empty" or self._include_hidden):
            nearby = far_times if self._last_time is None else (self._last_time, *far_times)
            events, repeated = self._new(entry, reading, uuid)
            elements: list[Element] = []
            if events:
                place = _place(tree, reading, uuid, parent, thread.thread_id)
                for event in events:
                    self._put(event, agent, place, times)
                    if event.role in _SPEAKERS and (agent is not None or entry.is_sidechain is True):
                        event.role = AGENT
                    elements.append(Heard(thread, event, nearby))
            if repeated:
                elements.append(Skipped("duplicate", reading.what, repeated))
            if reading.unknown_blocks:
                elements.append(Skipped("empty", "unknown block", reading.unknown_blocks))
        else:
            tree.bridge(uuid, parent)
            elements = [_skipped(reading)]
        if times:
            self._last_time = times[0]
        return reading.fault or elements

    def _new(self, entry: Entry, reading: Reading, uuid: str | None) -> tuple[list[CapturedEvent], int]:
        """Give the events that were not told before, with their ids, and the number of the others."""
        events: list[CapturedEvent] = []
        repeated = self._repeated(entry, reading.drafts)
        for event, identity in reading.drafts[repeated:]:
            event_id = self._id_of(entry, reading, uuid, identity)
            if event_id is None:
                repeated += 1
                continue
            event.id = event_id
            alone = identity[1] is None or len(reading.drafts) == 1
            event.message_id = uuid if alone or uuid is None else f"{uuid}#{identity[1]!s}"
            events.append(event)
        return events, repeated

    def _id_of(self, entry: Entry, reading: Reading, uuid: str | None, identity: Identity) -> str | None:
        if reading.what == TITLE:
            # A name of another session is one name in whatever file it stands.
            elsewhere = identity[0] == "other-session-name"
            return self._identities.title_id((None if elsewhere else self._session_id, *identity))
        if uuid is not None:
            return self._identities.event_id(uuid, identity)
        times = _times(entry)
        return self._identities.unnamed_id(str(times[0]) if times else f"in {self._session_id}", identity)

    def _repeated(self, entry: Entry, made: Sequence[Draft]) -> int:
        """Count the first drafts that the line before gave too: some versions write an answer again as it grows.

        Only a longer line of the same message that begins with all blocks of the former is such a one. Source: B28.
        """
        message_id = name(entry.message.id) if isinstance(entry.message, Message) else None
        if entry.type != "assistant" or message_id is None:
            return 0
        said: list[Identity] = [(identity[0], *identity[2:]) for _, identity in made]
        former_id, former = self._written
        self._written = message_id, said
        grown = message_id == former_id and len(said) > len(former) > 0 and said[: len(former)] == former
        return len(former) if grown else 0

    def _put(self, event: CapturedEvent, agent: str | None, place: Place, times: list[RawTime]) -> None:
        event.times = times
        event.branch_id, event.parent_message_id = place
        if agent is not None:
            event.branch_id = agent
        if event.tool_call_id is not None:
            if event.type == "tool_call" and event.tool_name is not None:
                self._tools[event.tool_call_id] = event.tool_name
            elif event.type == "tool_result":
                event.tool_name = self._tools.pop(event.tool_call_id, None)

    def _agent_of(self, entry: Entry) -> str | None:
        """Give the sub-agent whose line this is, if it says so or stands in a sub-agent's file."""
        return None if entry.is_sidechain is False else name(entry.agent_id) or self._agent_id

    def _thread_of(self, entry: Entry) -> Thread:
        """Give the thread of a line's own session; a resumed file begins with lines of the session before."""
        session_id = self._session_id = name(entry.session_id) or self._session_id
        workspace = entry.cwd if isinstance(entry.cwd, str) and entry.cwd.strip() else None
        thread = self._threads.get(session_id)
        if thread is None or (thread.workspace is None and workspace is not None):
            thread = Thread(provider=PROVIDER, thread_id=session_id, account=self._account, workspace=workspace)
            self._threads[session_id] = thread
        return thread


def _place(tree: Tree, reading: Reading, uuid: str | None, parent: object, thread_id: str) -> Place:
    """Place an entry; results of several calls hang side by side without being branches."""
    results = all(event.type == "tool_result" for event, _ in reading.drafts)
    return tree.attach(uuid, parent, thread_id) if results else tree.show(uuid, parent, thread_id)


def _times(entry: Entry) -> list[RawTime]:
    own = raw_time(entry.timestamp)
    typed = raw_time(entry.attachment.timestamp) if isinstance(entry.attachment, Attached) else None
    return [time for time in (own, typed) if time is not None]


def _skipped(reading: Reading) -> Skipped:
    if reading.outcome == "empty" and reading.unknown_blocks:
        return Skipped("empty", "unknown block", reading.unknown_blocks)
    return Skipped(reading.outcome, reading.what)
