"""What goes wrong with the triage store, in words that a person can act on."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

_MAX_REASON: Final = 300


class StoreError(Exception):
    """The store cannot do what was asked; the message says why, and what to do where that is known."""


class BadValueError(StoreError):
    """The database refused a value, or somebody else wrote it first; nothing was written."""


class TurnLostError(StoreError):
    """Another process has taken over; this one's transaction was not written."""


@contextmanager
def explained(where: str) -> Iterator[None]:
    """Turn a database's errors into `StoreError`."""
    try:
        yield
    except PoolTimeoutError as error:
        raise StoreError(f"{where}: all connections are in use") from error
    except DBAPIError as error:
        # The driver's own first line: SQLAlchemy's text would repeat the statement and its values, words of people.
        reason = str(error.orig).strip().partition("\n")[0][:_MAX_REASON] or type(error.orig).__name__
        hint = "; try again" if isinstance(error, OperationalError) and "locked" in reason else ""
        kind = BadValueError if isinstance(error, DataError | IntegrityError) else StoreError
        raise kind(f"{where}: {reason}{hint}") from error
