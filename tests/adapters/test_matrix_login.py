"""A login is kept, and is the same device after every restart, however the first one ended."""

import asyncio
import json
import stat
from pathlib import Path
from typing import Any

import pytest

from adapters.chat.matrix_api import MatrixApi
from adapters.chat.matrix_login import FILE, Login, with_password, with_token
from adapters.contract import PermanentSourceError, SourceError, TransientSourceError
from tests.support.fake_homeserver import TOKEN, USER, FakeHomeserver

PASSWORD = "correct horse"  # noqa: S105 - of no account
LOGIN = "/login"


@pytest.fixture
def server():
    with FakeHomeserver() as made:
        yield made


def entered(server: FakeHomeserver, folder: Path, password: str = PASSWORD) -> Login:
    async def enter() -> Login:
        async with MatrixApi(server.url) as api:
            login = await with_password(api, USER, password, folder)
            assert api.token == login.token
            return login

    return asyncio.run(enter())


def answer(server: FakeHomeserver, device: str, token: str = TOKEN, **changes: Any) -> None:
    body = {"user_id": USER, "access_token": token, "device_id": device} | changes
    server.script.setdefault(LOGIN, []).append({"status": 200, "body": body})


def kept(folder: Path) -> dict[str, str]:
    return json.loads((folder / FILE).read_bytes())


def noted(folder: Path, token: str = TOKEN, device: str = "OLDDEVICE", user: str = USER) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_text(json.dumps({"user": user, "device": device, "token": token}))


def asked(server: FakeHomeserver, path: str) -> int:
    return len(server.asked(path))


def test_a_kept_login_is_used_again(server, tmp_path) -> None:
    noted(tmp_path)
    server.script["/account/whoami"] = [{"status": 200, "body": {"user_id": USER, "device_id": "OLDDEVICE"}}]
    assert entered(server, tmp_path) == Login(USER, "OLDDEVICE", TOKEN)
    assert asked(server, LOGIN) == 0


def test_a_login_is_kept_for_nobody_else_to_read(server, tmp_path) -> None:
    """The name of the device is ours, and noted before the server hears it."""
    folder = tmp_path / "matrix" / "ops"
    server.script[LOGIN] = [{"status": 500, "body": {}}]
    with pytest.raises(TransientSourceError):
        entered(server, folder)
    device = kept(folder)["device"]
    assert (kept(folder)["user"], kept(folder)["token"], len(device)) == (USER, "", 10)
    answer(server, device)
    assert entered(server, folder) == Login(USER, device, TOKEN)
    assert kept(folder) == {"user": USER, "device": device, "token": TOKEN}
    assert stat.S_IMODE((folder / FILE).stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [path.name for path in folder.iterdir()] == [FILE]


def test_a_token_that_is_no_longer_known_gives_a_new_one_for_the_same_device(server, tmp_path) -> None:
    noted(tmp_path, "gone")
    answer(server, "OLDDEVICE")
    assert entered(server, tmp_path) == Login(USER, "OLDDEVICE", TOKEN)
    assert kept(tmp_path)["token"] == TOKEN


def test_a_server_that_is_away_costs_no_login(server, tmp_path) -> None:
    """The kept token is tried again later: each login by password would end the session that is there."""
    noted(tmp_path)
    server.script["/account/whoami"] = [{"status": 502, "raw": "<html>"}]
    with pytest.raises(TransientSourceError):
        entered(server, tmp_path)
    assert (asked(server, LOGIN), kept(tmp_path)["token"]) == (0, TOKEN)


def test_what_a_crash_left_of_a_file_is_in_nobodys_way(server, tmp_path) -> None:
    (tmp_path / f"{FILE}.new").write_text('{"user": "@')
    noted(tmp_path, "")
    answer(server, "OLDDEVICE")
    assert entered(server, tmp_path).token == TOKEN
    assert kept(tmp_path)["token"] == TOKEN


@pytest.mark.parametrize("content", ["", "{", '{"user": 5}', "[]"])
def test_a_damaged_file_is_told_and_left(server, tmp_path, content) -> None:
    """A new device could not read what the old one can: that is a person's choice."""
    (tmp_path / FILE).write_text(content)
    with pytest.raises(PermanentSourceError, match="damaged"):
        entered(server, tmp_path)
    assert (tmp_path / FILE).read_text() == content


def test_the_login_of_another_account_is_not_used(server, tmp_path) -> None:
    noted(tmp_path, user="@former:hs.test")
    server.script[LOGIN] = [{"status": 500, "body": {}}]
    with pytest.raises(TransientSourceError):
        entered(server, tmp_path)
    assert kept(tmp_path)["user"] == USER
    assert kept(tmp_path)["device"] != "OLDDEVICE"


def test_a_wrong_password_is_a_persons_to_mend_and_never_shown(server, tmp_path) -> None:
    body = {"errcode": "M_FORBIDDEN", "error": f"Invalid password {PASSWORD}"}
    server.script[LOGIN] = [{"status": 403, "body": body}]
    with pytest.raises(PermanentSourceError) as told:
        entered(server, tmp_path)
    assert "M_FORBIDDEN" in str(told.value)
    assert PASSWORD not in repr(told.value)
    assert told.value.__cause__ is None


def test_too_many_logins_are_waited_for(server, tmp_path) -> None:
    body = {"errcode": "M_LIMIT_EXCEEDED", "error": "slow down", "retry_after_ms": 30_000}
    server.script[LOGIN] = [{"status": 429, "body": body}]
    with pytest.raises(TransientSourceError) as told:
        entered(server, tmp_path)
    assert told.value.pause_seconds == 30.0


@pytest.mark.parametrize(
    "changes", [{"user_id": "@other:hs.test"}, {"device_id": "OTHER"}, {"access_token": None}, {"access_token": ""}]
)
def test_an_answer_that_is_no_login_is_not_kept(server, tmp_path, changes) -> None:
    noted(tmp_path, "")
    answer(server, "OLDDEVICE", **changes)
    with pytest.raises(SourceError):
        entered(server, tmp_path)
    assert kept(tmp_path)["token"] == ""


def test_a_token_is_that_of_its_user(server) -> None:
    async def use(user: str) -> Login:
        async with MatrixApi(server.url) as api:
            return await with_token(api, user, TOKEN)

    assert asyncio.run(use(USER)) == Login(USER, "DEVICE", TOKEN)
    with pytest.raises(PermanentSourceError, match="not of @other"):
        asyncio.run(use("@other:hs.test"))


def test_a_token_is_not_shown() -> None:
    assert TOKEN not in repr(Login(USER, "DEVICE", TOKEN))
    assert TOKEN not in f"{Login(USER, 'DEVICE', TOKEN)}"


def test_a_folder_that_cannot_be_written_is_told(server, tmp_path) -> None:
    (tmp_path / "ops").touch()
    with pytest.raises(PermanentSourceError, match="cannot be"):
        entered(server, tmp_path / "ops")
