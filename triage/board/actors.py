"""Who acts: an API key says so, and without one it is the person who is logged in.

A key names its holder and what the holder may do; which it is was said by the operator who made it, never by whoever
uses it. A key that is wrong is refused: nobody becomes an operator by showing a bad one.
"""

import os
import pwd
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from triage.board.model import Actor, ActorKind
from triage.board.refusals import Refusal, RefusedError
from triage.store.database import Store

KEY_VARIABLE: Final = "SESSION_TRIAGE_API_KEY"
KEY_FILE_VARIABLE: Final = "SESSION_TRIAGE_API_KEY_FILE"

_PREFIX: Final = "st-"
"""By this a leaked key is recognised, by people and by scanners."""

_KEY_BYTES: Final = 32
"""256 random bits: nothing to guess, so a plain digest of it is all that has to be kept."""

_MAX_KEY_BYTES: Final = 4096


class KeySettingError(Exception):
    """The environment's settings for the key cannot be used; the message says what to do."""


def new_key() -> str:
    """Make a key."""
    return _PREFIX + secrets.token_urlsafe(_KEY_BYTES)


def actor_of(store: Store, environment: Mapping[str, str]) -> Actor:
    """Say who acts; raises `KeySettingError`, and `RefusedError` for a key that is unknown or was revoked."""
    key = _key_of(environment)
    if key is None:
        return local_operator()
    with store.read() as repository:
        actor = repository.keys.actor(key)
    if actor is None:
        raise RefusedError(Refusal.UNKNOWN_KEY, "the API key is unknown, or was revoked")
    return actor


def local_operator() -> Actor:
    """Give the person who is logged in, by the account and not by what the environment says of it."""
    try:
        name = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # an account without a name, as in containers
        name = f"uid-{os.getuid()}"
    return Actor(name, ActorKind.OPERATOR)


def _key_of(environment: Mapping[str, str]) -> str | None:
    given, file = environment.get(KEY_VARIABLE), environment.get(KEY_FILE_VARIABLE)
    if given is not None and file is not None:
        raise KeySettingError(f"set {KEY_VARIABLE} or {KEY_FILE_VARIABLE}, not both")
    if file is not None:
        given = _read(Path(file))
    if given is not None and not given.strip():
        # An empty key is a mistake in a script; taking it for none would make the script an operator.
        raise KeySettingError(f"{KEY_FILE_VARIABLE if file is not None else KEY_VARIABLE} is set, but the key is empty")
    return given.strip() if given is not None else None


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_MAX_KEY_BYTES).decode("utf-8", "replace")
    except OSError as error:
        raise KeySettingError(f"{KEY_FILE_VARIABLE}: {path}: {error.strerror}") from error
