"""Keys by which programs name themselves. Only digests are kept: who reads the store cannot act with them."""

import hashlib
from dataclasses import dataclass

import sqlalchemy as sa

from triage.board.model import Actor, ActorKind
from triage.store.rows import storable
from triage.store.tables import api_keys


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as it is listed; `fingerprint` is the beginning of its digest, by which it is revoked."""

    actor: Actor
    fingerprint: str
    created_ms: int
    revoked_ms: int | None


class ApiKeys:
    """The keys of one transaction."""

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection

    def add(self, key: str, actor: Actor, at_ms: int) -> ApiKey:
        """Keep the digest of a key, which must be long and random: it is hashed once, not stretched."""
        row = {
            "digest": _digest(key),
            "name": storable(actor.name),
            "kind": actor.kind.value,
            "created_ms": at_ms,
            "revoked_ms": None,
        }
        self._connection.execute(sa.insert(api_keys), row)
        return ApiKey(actor, _digest(key).hex()[:_FINGERPRINT], at_ms, None)

    def actor(self, key: str) -> Actor | None:
        """Say whose key it is; None for one that is unknown or was revoked."""
        statement = sa.select(api_keys).where(api_keys.c.digest == _digest(key), api_keys.c.revoked_ms.is_(None))
        row = self._connection.execute(statement).mappings().first()
        return Actor(row["name"], ActorKind(row["kind"])) if row else None

    def listed(self) -> list[ApiKey]:
        """Give all keys, the oldest first."""
        rows = self._connection.execute(sa.select(api_keys).order_by(api_keys.c.created_ms)).mappings()
        return [_api_key(row) for row in rows]

    def revoke(self, fingerprint: str, at_ms: int) -> int:
        """Make the keys whose digest begins so useless; how many they were."""
        found = [key for key in self._digests() if fingerprint and key.hex().startswith(fingerprint.lower())]
        statement = sa.update(api_keys).where(api_keys.c.digest.in_(found), api_keys.c.revoked_ms.is_(None))
        return self._connection.execute(statement.values(revoked_ms=at_ms)).rowcount

    def _digests(self) -> list[bytes]:
        return [bytes(digest) for digest in self._connection.scalars(sa.select(api_keys.c.digest))]


_FINGERPRINT = 12
"""Characters of a digest that tell keys apart in a list."""


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "replace")).digest()


def _api_key(row: sa.RowMapping) -> ApiKey:
    actor = Actor(row["name"], ActorKind(row["kind"]))
    return ApiKey(actor, bytes(row["digest"]).hex()[:_FINGERPRINT], row["created_ms"], row["revoked_ms"])
