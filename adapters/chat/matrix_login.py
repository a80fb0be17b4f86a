"""Who a Matrix source is: an account and one device of it, the same after every restart.

The device owns the keys that encrypted messages need, so that a login as a new one each time would read none of them.
With a password the source logs in once and keeps the token in `login.json`; the device's name is noted there before the
server hears it, so that a crash between the two leaves no device behind. Source: Matrix specification 1.11, `/login`.
"""

import contextlib
import os
import secrets
import string
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from adapters.chat.matrix_api import CLIENT, MatrixApi, RefusedError, UnknownTokenError
from adapters.contract import PermanentSourceError
from adapters.exports.fields import Object, text

FILE: Final = "login.json"
DEVICE_NAME: Final = "session-triage"

_DEVICE_CHARS: Final = 10
"""As servers make them."""


class Login(Struct, frozen=True):
    """The account (`@name:server`), its device, and the token; the token is "" until the server has given one."""

    user: str
    device: str
    token: str = ""

    def __repr__(self) -> str:
        return f"Login(user={self.user!r}, device={self.device!r})"


async def with_token(api: MatrixApi, user: str, token: str) -> Login:
    """Use a token that a person made; raises `SourceError`."""
    api.token = token
    found, device = await api.who()
    if found != user:
        raise PermanentSourceError(f"the token is that of {found}, not of {user}")
    return Login(user, device, token)


async def with_password(api: MatrixApi, user: str, password: str, folder: Path) -> Login:
    """Use the login kept in `folder`, or log in, as the same device if there was one; raises `SourceError`."""
    kept = kept_login(folder, user)
    if kept is not None and kept.token:
        try:
            return await with_token(api, user, kept.token)
        except UnknownTokenError:  # it was logged out, or its time is over
            api.token = ""
    if kept is None:
        kept = Login(user, "".join(secrets.choice(string.ascii_uppercase) for _ in range(_DEVICE_CHARS)))
        _keep(folder, kept)
    login = await _log_in(api, kept, password)
    _keep(folder, login)
    api.token = login.token
    return login


async def _log_in(api: MatrixApi, kept: Login, password: str) -> Login:
    body: Object = {
        "type": "m.login.password",
        "identifier": {"type": "m.id.user", "user": kept.user},
        "password": password,
        "device_id": kept.device,
        "initial_device_display_name": DEVICE_NAME,
    }
    try:
        answer = await api.call("POST", f"{CLIENT}/login", body)
    except RefusedError as error:
        # The server's words are left out: they may repeat what it was sent.
        words = f"the homeserver does not let {kept.user} log in by password ({error.status} {error.code})"
        raise PermanentSourceError(f"{words}: check user and password, or give it a token") from None
    user, device, token = (text(answer.get(name)) for name in ("user_id", "device_id", "access_token"))
    if not token or user != kept.user or device != kept.device:
        raise PermanentSourceError(f"the homeserver answers the login of {kept.user} with none, or as somebody else")
    return Login(user, device, token)


def kept_login(folder: Path, user: str) -> Login | None:
    """Read the login kept, None when there is none of this user; raises `PermanentSourceError`."""
    path = folder / FILE
    try:
        found = msgspec.json.decode(path.read_bytes(), type=Login)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise PermanentSourceError(f"the login cannot be read: {path}: {error.strerror}") from None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        # A new device would not be able to read what the old one can: a person decides that.
        words = f"the login in {path} is damaged: restore it from a backup, or delete it to log in as a new device"
        raise PermanentSourceError(words) from None
    return found if found.user == user else None


def _keep(folder: Path, login: Login) -> None:
    """Write the login so that a crash leaves the old file or the new one, for nobody else to read."""
    path, made = folder / FILE, folder / f"{FILE}.new"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            made.unlink()
        file = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(file, "wb") as stream:
            stream.write(msgspec.json.encode(login))
            stream.flush()
            os.fsync(stream.fileno())
        made.replace(path)
        folder_file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder_file)
        finally:
            os.close(folder_file)
    except OSError as error:
        raise PermanentSourceError(f"the login cannot be kept: {path}: {error.strerror}") from None
