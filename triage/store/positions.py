"""Where the consumer stands in the log, and which process may move it: both in the transaction that moves them.

Exactly once follows: what a batch changes, the offsets after it, and the proof that nobody else has taken over stand or
fall together.
"""

from collections.abc import Mapping

import sqlalchemy as sa

from ingest.log.contract import Place, Topic
from triage.store.errors import TurnLostError
from triage.store.keys import log_digest
from triage.store.rows import storable
from triage.store.tables import holders, offsets
from triage.store.upsert import insert_new, insert_or_update


class Positions:
    """Offsets and turns of one transaction."""

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection

    def committed(self, where: str) -> dict[Place, int]:
        """Give the offsets of a log, which is named by where it is; places never read are missing."""
        rows = self._connection.execute(sa.select(offsets).where(offsets.c.log == log_digest(where))).mappings()
        known = {topic.value: topic for topic in Topic}
        return {(known[row["topic"]], row["part"]): row["committed"] for row in rows if row["topic"] in known}

    def commit(self, where: str, places: Mapping[Place, int]) -> None:
        """Move the offsets of a log."""
        log = log_digest(where)
        rows = [
            {"log": log, "topic": topic.value, "part": partition, "committed": offset}
            for (topic, partition), offset in places.items()
        ]
        if rows:
            self._connection.execute(insert_or_update(self._connection, offsets, ("committed",)), rows)

    def take_over(self, name: str, holder: str) -> int:
        """Become the holder of a turn; gives its epoch, by which every earlier holder is fenced."""
        self._connection.execute(insert_new(self._connection, holders), {"name": name, "epoch": 0, "holder": ""})
        taken = (
            sa.update(holders).where(holders.c.name == name).values(epoch=holders.c.epoch + 1, holder=storable(holder))
        )
        self._connection.execute(taken)
        epoch: int = self._connection.execute(sa.select(holders.c.epoch).where(holders.c.name == name)).scalar_one()
        return epoch

    def check_turn(self, name: str, epoch: int) -> None:
        """Raise `TurnLostError` unless the turn is still this epoch's; then nobody takes over until the end."""
        mine = sa.select(holders.c.epoch).where(holders.c.name == name).with_for_update()
        if self._connection.scalar(mine) != epoch:
            raise TurnLostError(f"another process has taken over {name}: this one stops writing")
