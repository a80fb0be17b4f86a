"""One pi session while its file is read: who each event is, where it stands, and what time is near it."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, Literal

from adapters.contract import Element, Heard, Skipped
from adapters.sessions.drafts import Draft, Identity
from adapters.sessions.identity import Identities
from adapters.sessions.pi_entries import read_entry
from adapters.sessions.pi_identity import entry_time, message_time
from adapters.sessions.pi_reading import Reading
from adapters.sessions.pi_shapes import Accounts, Entry, Message
from adapters.sessions.pi_times import times_of
from adapters.sessions.pi_usual import UsualEntry, usual_drafts
from adapters.sessions.tree import Tree
from adapters.sessions.values import name
from schemas.captured import RawTime, Thread
from schemas.keys import account_name

_NO_ACCOUNT: Final = (None,) * 5


class Fault(str):
    """Why an entry cannot be read: the entry is rejected with it."""

    __slots__ = ()


class Session:
    """Turns the entries of one file into elements, in file order.

    Keeps the tree, the identities and the last time: about 200 bytes an entry, nothing of what was said.
    """

    def __init__(self, thread: Thread, far_times: tuple[RawTime, ...], *, include_hidden: bool) -> None:
        self.thread = thread
        self.far_times = far_times
        """Times to infer from beyond the entry before: the header's, the file's."""
        self._include_hidden = include_hidden
        self._identities = Identities("pi")
        self._tree = Tree()
        self._last_time: RawTime | None = None
        self._other_account: Thread | None = None

    def move_to(self, thread: Thread, far_times: tuple[RawTime, ...]) -> None:
        """Let the entries from here on belong to another thread: a header came late."""
        self.thread, self.far_times, self._other_account = thread, far_times, None

    def read(self, entry: Entry) -> list[Element] | Fault:
        """Give the elements of an entry: its events, or one `Skipped`; a `Fault` when it cannot be read.

        Raises `RecursionError` for arguments nested deeper than the stack, before anything is remembered.
        """
        reading = read_entry(entry)
        message = entry.message if isinstance(entry.message, Message) else None
        times = times_of(entry, message)
        entry_id = name(entry.id)
        if reading.drafts and (reading.outcome == "empty" or self._include_hidden):
            thread = self._thread_of(entry, message)
            when = self._when(entry, message, reading)
            elements = self._tell(reading.drafts, reading.what, thread, when, times, entry_id, entry.parent_id)
            if reading.unknown_blocks:
                elements.append(Skipped("empty", "unknown block", reading.unknown_blocks))
        else:
            self._tree.bridge(entry_id, entry.parent_id)
            elements = [_skipped(reading.outcome, reading.what)]
        if times:
            self._last_time = times[0]
        return Fault(reading.fault) if reading.fault else elements

    def read_usual(self, entry: UsualEntry) -> list[Element] | None:
        """Give what `read` gives for the same line, at half its price; None when it is not so usual after all."""
        drafts = usual_drafts(entry)
        if drafts is None:
            return None
        time, said = entry.timestamp, entry.message.timestamp
        elements = self._tell(
            drafts, entry.message.what, self.thread, (time, said), [time, said], entry.id, entry.parent_id
        )
        self._last_time = time
        return elements

    def _tell(
        self,
        drafts: Sequence[Draft],
        what: str,
        thread: Thread,
        when: Identity,
        times: list[RawTime],
        entry_id: str | None,
        parent_id: object,
    ) -> list[Element]:
        """Say who each draft is and where it stands; an entry is placed in the tree when it gives its first event."""
        nearby = self.far_times if self._last_time is None else (self._last_time, *self.far_times)
        elements: list[Element] = []
        duplicates = 0
        branch = parent = None
        for event, identity in drafts:
            event_id = self._identities.event_id(entry_id, when + identity)
            if event_id is None:
                duplicates += 1
                continue
            if not elements:
                branch, parent = self._tree.show(entry_id, parent_id)
            event.id = event_id
            event.times = times
            event.branch_id = branch
            event.parent_message_id = parent
            block = identity[1]
            event.message_id = entry_id if block is None or entry_id is None else f"{entry_id}#{block!s}"
            elements.append(Heard(thread, event, nearby))
        if duplicates:
            elements.append(Skipped("duplicate", what, duplicates))
        return elements

    def _when(self, entry: Entry, message: Message | None, reading: Reading) -> Identity:
        """Give the times that identify an entry.

        Without any, its thread does: words alone would make one event of every timeless "yes" of every session.
        """
        time = entry_time(entry.timestamp)
        said = message_time(message.timestamp) if message is not None and (reading.timed or time is None) else None
        return (f"in {self.thread.thread_id}" if time is None and said is None else time), said

    def _thread_of(self, entry: Entry, message: Message | None) -> Thread:
        account = _account(entry) or (None if message is None else _account(message))
        if account is None or account == self.thread.account:
            return self.thread
        # One object a thread, or every event would close its record; accounts do not take turns in a session.
        if self._other_account is None or self._other_account.account != account:
            self._other_account = Thread(
                provider=self.thread.provider,
                thread_id=self.thread.thread_id,
                account=account,
                workspace=self.thread.workspace,
            )
        return self._other_account


def _account(holder: Accounts) -> str | None:
    found = (
        holder.account,
        holder.account_id,
        holder.account_id_snake,
        holder.provider_account,
        holder.provider_account_snake,
    )
    if found == _NO_ACCOUNT:
        return None
    return next((account for value in found if (account := account_name(name(value)))), None)


@lru_cache(maxsize=128)
def _skipped(outcome: Literal["empty", "hidden"], what: str) -> Skipped:
    """Give the one object of its sort: `what` is of a closed set, and files hold thousands of them."""
    return Skipped(outcome, what)
