"""Signal by signal-cli's JSON-RPC daemon as a live source.

There is nothing to confirm: what signal-cli has handed out is gone. So each envelope is written to a journal and synced
before anything else, appended to the log with its number in the journal as the checkpoint, and only then forgotten. A
crash at any point neither loses nor repeats what the journal has; what the system's buffers held of the connection at
that moment is lost, which nobody on this side can help, except over HTTP where signal-cli numbers its events. Source:
sections 0, 1 and 5.1 of the chat platform notes; cases 49, 51, 53, 55.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from adapters.chat.signal_address import Address
from adapters.chat.signal_check import findings
from adapters.chat.signal_envelopes import Envelopes
from adapters.chat.signal_intake import Intake, Patience
from adapters.chat.signal_journal import Entry, Journal
from adapters.chat.signal_memory import Memory
from adapters.contract import Capture, Element, Finding, Warned


@dataclass(slots=True)
class SignalSource:
    """One account of a signal-cli daemon.

    `name` is the source's, `account` the number that signal-cli knows the account by: it becomes part of keys.
    `journal` is the path of the journal; two sources never share one.
    """

    name: str
    account: str
    address: Address
    journal: Path
    patience: Patience = field(default_factory=Patience)

    async def captures(self, checkpoints: Mapping[str, bytes]) -> AsyncIterator[Capture]:
        """Follow the account for ever, from what the journal holds; see `Adapter.captures`. Raises `SourceError`."""
        memory = Memory(checkpoints, self.account, self.name)
        journal = Journal(self.journal)
        intake = Intake(self.address, self.account, journal, self.name, lambda: memory.event, self.patience)
        envelopes = Envelopes(memory, self.name)
        await asyncio.to_thread(journal.open, memory.position.journal, memory.position.number)
        try:
            # Committed before signal-cli is asked for anything: the log accepts.
            number = memory.position.number if memory.position.journal == journal.identity else 0
            yield Capture([*memory.warnings, *self._torn(journal)], memory.moved(journal.identity, number))
            while True:
                batch = journal.batch()
                if not batch:
                    await intake.more()
                    yield Capture(_taken(intake.warnings))
                    continue
                intake.offered(taken=False)
                elements = [*_taken(intake.warnings), *_elements(envelopes, batch)]
                yield Capture(elements, memory.moved(journal.identity, batch[-1].number))
                intake.offered(taken=True)
                await asyncio.to_thread(journal.done, batch[-1].number)
        finally:
            await intake.stop()
            await asyncio.to_thread(journal.close)

    async def check(self) -> list[Finding]:
        """See `Checked`."""
        return await findings(self.address, self.account, self.journal)

    def _torn(self, journal: Journal) -> list[Warned]:
        if not journal.torn_bytes:
            return []
        words = f"the journal ended in {journal.torn_bytes} bytes of an envelope that was never whole: it is lost"
        return [Warned(self.name, words)]


def _elements(envelopes: Envelopes, batch: Sequence[Entry]) -> list[Element]:
    envelopes.forget()
    return [element for entry in batch for element in envelopes.elements(entry)]


def _taken(warnings: list[Warned]) -> list[Warned]:
    taken = list(warnings)
    warnings.clear()
    return taken
