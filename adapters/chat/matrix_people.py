"""Who speaks in a Matrix room: the role words of live reading and of an export. Source: section 1 of the notes."""

from collections.abc import Iterable
from typing import Final

from adapters.exports.fields import Object, text

NOTICE: Final = "m.notice"
"""The message type that programs use, by convention, so that no program answers them."""


class People:
    """Whom the account's owner named: `own` is the account that is read, `operators` and `bots` are user ids."""

    def __init__(self, own: str | None = None, operators: Iterable[str] = (), bots: Iterable[str] = ()) -> None:
        self._roles = {_folded(bot): "bot" for bot in (own or "", *bots)} | {_folded(one): "self" for one in operators}
        self._roles.pop("", None)

    def role(self, event: Object, kind: str = "") -> str:
        """Give the role word of an event's sender (see `ingest.processors.roles`); `kind` is its message type."""
        known = self._roles.get(_folded(text(event.get("sender"))))
        return known or ("notice" if kind == NOTICE else "user")

    def is_operator(self, user: str) -> bool:
        """Whether a user's words are the operator's."""
        return self._roles.get(_folded(user)) == "self"


def _folded(user: str) -> str:
    return user.strip().casefold()
