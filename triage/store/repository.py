"""What one transaction on the triage store can do; nobody else writes SQL.

`Store.read` and `Store.write` give one. Its parts share the transaction:

    with store.write() as repository:
        proposal = repository.proposals.get(identifier, lock=True)
        repository.decisions.append(decision)
"""

import sqlalchemy as sa

from triage.store.access import ApiKeys
from triage.store.decisions import Decisions
from triage.store.findings import Findings
from triage.store.positions import Positions
from triage.store.proposals import Proposals
from triage.store.threads import Threads


class Repository:
    """Everything in the store, within one transaction."""

    def __init__(self, connection: sa.Connection) -> None:
        self.proposals = Proposals(connection)
        self.decisions = Decisions(connection)
        self.keys = ApiKeys(connection)
        self.positions = Positions(connection)
        self.threads = Threads(connection)
        self.findings = Findings(connection)
