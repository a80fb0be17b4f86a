"""What `session-ingest sources check` tells of a Matrix account, before it runs or while it does.

Nothing is confirmed: a sync without `since` deletes nothing at the server, and no login is made, since that would be a
new device. Source: section 3 of the chat platform notes.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from adapters.chat.matrix_api import CLIENT, MatrixApi, UnknownTokenError
from adapters.chat.matrix_login import kept_login, with_token
from adapters.chat.matrix_rooms import Join
from adapters.chat.words import one_line
from adapters.contract import Finding, SourceError
from adapters.exports.fields import Object, array, obj, objects, text

_HERE: Final = frozenset({"localhost", "127.0.0.1", "::1"})

_WHOSE: Final[dict[Join, str]] = {
    "operators": "those of operators are followed",
    "anyone": "all are followed",
    "never": "none is followed",
}


@dataclass(frozen=True, slots=True)
class Account:
    """The account that is looked at; without `token` it logs in by password, which `folder` remembers."""

    homeserver: str
    user: str
    token: Callable[[], str] | None = field(repr=False)
    folder: Path | None
    encryption: bool


async def findings(account: Account, join: Join) -> list[Finding]:
    """Ask who the account is, what it would read, and whether it can read what is encrypted."""
    found = _of_server(account.homeserver)
    try:
        async with MatrixApi(account.homeserver) as api:
            versions = array((await api.call("GET", "/_matrix/client/versions")).get("versions"))
            newest = one_line(text(versions[-1])) if versions else "an unknown version"
            found.append(Finding("ok", f"the homeserver answers, and speaks Matrix {newest}"))
            token = _token(account)
            if token is None:
                words = "this account has not logged in yet: its password is tried when the source starts"
                return [*found, Finding("ok", words)]
            login = await with_token(api, account.user, token)
            found.append(Finding("ok", f"the token is that of {login.user}, device {login.device or '(none)'}"))
            answer = await api.sync(None, 0.0, _wanted())
            found += _of_rooms(len(await api.joined()), len(obj(obj(answer.get("rooms")).get("invite"))), join)
            found += await _of_keys(account, api, login.device, _encrypted(answer))
    except UnknownTokenError as error:
        found.append(_of_ended_login() if account.token is None else Finding("problem", str(error)))
    except SourceError as error:
        found.append(Finding("problem", str(error)))
    return found


def _of_ended_login() -> Finding:
    words = (
        "the homeserver has ended the login that was kept: the source logs in anew when it starts, as the same device"
    )
    return Finding("warning", words)


def _token(account: Account) -> str | None:
    """Give the token, or that of a login by password that was made before."""
    if account.token is not None:
        return account.token()
    login = kept_login(account.folder, account.user) if account.folder else None
    return login.token or None if login else None


def _of_server(url: str) -> list[Finding]:
    parts = urlsplit(url)
    if parts.scheme == "https" or parts.hostname in _HERE:
        return []
    return [Finding("warning", f"the token and all messages go to {parts.netloc} unencrypted", "use https")]


def _of_rooms(joined: int, invited: int, join: Join) -> list[Finding]:
    found = [Finding("ok", f"it would read {joined} {'room' if joined == 1 else 'rooms'}")]
    if not joined:
        found = [Finding("warning", "the account is in no room, so that nothing comes", "invite it to one")]
    if invited:
        words = f"invitations that wait: {invited}; {_WHOSE[join]} when they come while the source runs"
        advice = "accept those from before with a client of that account, or invite it again"
        found.append(Finding("warning", words, advice))
    return found


async def _of_keys(account: Account, api: MatrixApi, device: str, encrypted: int) -> list[Finding]:
    """Say whether what is encrypted can be read: only what was sent after this device had its keys."""
    if not encrypted:
        return [Finding("ok", "none of its rooms is encrypted")]
    words = f"encrypted rooms: {encrypted}"
    if not account.encryption:
        return [Finding("warning", f"{words}; what is said there is not read", "set encryption = true")]
    if not device:
        return [Finding("problem", f"{words}, but the token has no device for keys", "take a token of a login")]
    asked: Object = {"device_keys": {account.user: [device]}}
    answer = await api.call("POST", f"{CLIENT}/keys/query", asked)
    if device not in obj(obj(answer.get("device_keys")).get(account.user)):
        return [Finding("ok", f"{words}; the device gets its keys when the source first starts")]
    return [_of_store(account, words)]


def _of_store(account: Account, words: str) -> Finding:
    from adapters.chat.matrix_keystore import count_room_keys  # noqa: PLC0415 - an extra, as the transport is

    count = count_room_keys(account.folder) if account.folder else None
    if count is None:
        advice = "restore it from a backup, or log in as a new device: this one's keys are elsewhere"
        return Finding("problem", f"{words}; the device has keys, but not in {account.folder}", advice)
    return Finding("ok", f"{words}; keys for what was said there: {count}")


def _encrypted(answer: Object) -> int:
    rooms = obj(obj(answer.get("rooms")).get("join")).values()
    states = [objects(obj(obj(room).get("state")).get("events")) for room in rooms]
    return sum(any(event.get("type") == "m.room.encryption" for event in events) for events in states)


def _wanted() -> Object:
    """Ask for invitations and for what is encrypted, with none of what was said; other rooms are left out."""
    nothing: Object = {"types": []}
    state: Object = {"types": ["m.room.encryption"]}
    room = {"account_data": nothing, "ephemeral": nothing, "timeline": {"limit": 1, "types": []}, "state": state}
    return {"presence": nothing, "account_data": nothing, "room": room}
