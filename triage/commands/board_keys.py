"""API keys: made by an operator, shown once, kept as digests."""

import sys

from triage.board.actors import KEY_VARIABLE, new_key
from triage.board.documents import iso_of
from triage.board.model import Actor, ActorKind
from triage.board.refusals import Refusal, RefusedError
from triage.commands.board_session import Common, Session, UsageError, opened, write_json
from triage.report.render_parts import clock
from triage.report.words import one_line
from triage.store.access import ApiKey


def add(common: Common, name: str, kind: ActorKind) -> None:
    """Make a key for somebody and print it, this once."""
    holder = Actor(one_line(name), kind)
    if not holder.name or kind is ActorKind.SYSTEM:
        raise UsageError("a key is for somebody with a name: an operator or an agent")
    with opened(common) as session:
        _check(session)
        key = new_key()
        with session.store.write() as repository:
            made = repository.keys.add(key, holder, session.now_ms)
        if session.as_json:
            write_json({**_json(made), "key": key})
            return
        sys.stdout.write(f"{key}\n")
        sys.stderr.write(
            f"session-triage: key {made.fingerprint} for {holder.name} ({kind}); it is not shown again. "
            f"Its holder sets {KEY_VARIABLE}, or {KEY_VARIABLE}_FILE to a file with it.\n"
        )


def listed(common: Common) -> None:
    """Print all keys, without what would let anybody use them."""
    with opened(common, reading=True) as session:
        with session.store.read() as repository:
            keys = repository.keys.listed()
        if session.as_json:
            write_json([_json(key) for key in keys])
            return
        for key in keys:
            gone = f"  revoked {clock(iso_of(key.revoked_ms))}" if key.revoked_ms is not None else ""
            made = clock(iso_of(key.created_ms))
            sys.stdout.write(f"{key.fingerprint}  {key.actor.kind:8}  {one_line(key.actor.name)}  made {made}{gone}\n")


def revoke(common: Common, fingerprint: str) -> None:
    """Make one key useless, at once and for ever."""
    with opened(common) as session:
        _check(session)
        with session.store.write() as repository:
            found = [key for key in repository.keys.listed() if key.fingerprint.startswith(fingerprint.lower())]
            if len(found) != 1 or not fingerprint:
                raise UsageError(f"{one_line(fingerprint)} names {len(found)} keys: give one of `board keys list`")
            repository.keys.revoke(found[0].fingerprint, session.now_ms)
        sys.stdout.write(f"revoked: {found[0].fingerprint} of {one_line(found[0].actor.name)}\n")


def _check(session: Session) -> None:
    """Only operators say who is one."""
    if session.actor.kind is not ActorKind.OPERATOR:
        raise RefusedError(Refusal.NOT_AN_OPERATOR, f"{session.actor.name} ({session.actor.kind}) makes no keys")


def _json(key: ApiKey) -> dict[str, str | None]:
    return {
        "fingerprint": key.fingerprint,
        "name": key.actor.name,
        "kind": key.actor.kind.value,
        "createdIso": iso_of(key.created_ms),
        "revokedIso": None if key.revoked_ms is None else iso_of(key.revoked_ms),
    }
