"""Futures that aiokafka makes for itself, gives an error, and never asks again: asked here, once they are done.

Python would say of each, with a traceback, that its exception was never retrieved, although whoever was concerned has
been told: the error of a fenced producer also comes from what was awaited. Source: aiokafka 0.14,
`producer/sender.py` (`_fail_all`, `_find_coordinator`), `producer/message_accumulator.py` (`MessageBatch.failure`),
`producer/transaction_manager.py` (`error_transaction`, `fatal_error`).
"""

from typing import TYPE_CHECKING, Any

from aiokafka import AIOKafkaProducer

from ingest.log.kafka.unready import look_up_patiently

if TYPE_CHECKING:
    from asyncio import Future, Task


def look_at(future: "Future[Any]") -> None:
    """Ask a future for its error as soon as it is done; whoever awaits it hears of it all the same."""
    if future.done():  # now: a loop that is being closed would call nobody back
        _ask(future)
    else:
        future.add_done_callback(_ask)


def _ask(future: "Future[Any]") -> None:
    if not future.cancelled():
        future.exception()


class Producer(AIOKafkaProducer):  # type: ignore[misc]  # the library has no types
    """A transactional producer that leaves no error behind, however it ends: fenced, brokers away, or given up."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        look_up_patiently(self.client)
        self._add_offsets = self._txn_manager.add_offsets_to_txn
        self._txn_manager.add_offsets_to_txn = self._added
        self._append = self._message_accumulator._append_batch  # noqa: SLF001 - there is no other way to batches
        self._message_accumulator._append_batch = self._appended  # noqa: SLF001

    async def start(self) -> None:
        """See `AIOKafkaProducer.start`."""
        await super().start()
        # After the library's own callback, which hands the sender's error to all that waits.
        self._sender.sender_task.add_done_callback(self._ended)

    async def begin_transaction(self) -> None:
        """See `AIOKafkaProducer.begin_transaction`."""
        await super().begin_transaction()
        # An error that allows an abort is set here, and only a commit would ask for it.
        look_at(self._txn_manager.wait_for_transaction_end())

    # Who waits for offsets or a batch is shielded from them: one that gave up waiting hears of no error any longer.

    def _added(self, *offsets: Any) -> "Future[None]":
        added: Future[None] = self._add_offsets(*offsets)
        look_at(added)
        return added

    def _appended(self, *batch: Any) -> Any:
        appended = self._append(*batch)
        look_at(appended.future)
        return appended

    def _ended(self, _: "Task[None]") -> None:
        ended = self._txn_manager.wait_for_transaction_end()
        if ended is not None:  # there was a transaction
            look_at(ended)
        accumulator = self._message_accumulator
        waiting = [batch for batches in accumulator._batches.values() for batch in batches]  # noqa: SLF001
        for batch in [*waiting, *accumulator._pending_batches]:  # noqa: SLF001
            look_at(batch._drain_waiter)  # noqa: SLF001
