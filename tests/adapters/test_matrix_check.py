"""`sources check` says who a Matrix account is and what it would read; it confirms nothing and logs nobody in."""

import asyncio
import json

import pytest

from adapters.chat.matrix_keystore import KeyStore
from adapters.chat.matrix_login import FILE
from adapters.contract import Finding, PermanentSourceError
from tests.support.fake_homeserver import TOKEN, USER, FakeHomeserver, answer, room
from tests.support.matrix_live import ROOM, said, source, state

ENCRYPTED = room(said(1), state=(state(2, "m.room.encryption", {"algorithm": "m.megolm.v1.aes-sha2"}),))


@pytest.fixture
def server():
    with FakeHomeserver() as fake:
        yield fake


def check(server, **options) -> list[Finding]:
    return asyncio.run(source(server, **options).check())


def words(found: list[Finding], level: str | None = None) -> str:
    return "\n".join(f"{each.what}; {each.advice}" for each in found if level in (None, each.level))


def test_a_check_says_who_the_account_is_and_what_it_would_read(server) -> None:
    server.answers[""] = answer("s1", join={ROOM: room(said(1))})
    server.fixed["/joined_rooms"] = {"joined_rooms": [ROOM, "!b"]}
    found = check(server)
    assert [each.what for each in found] == [
        "the homeserver answers, and speaks Matrix v1.11",
        f"the token is that of {USER}, device DEVICE",
        "it would read 2 rooms",
        "none of its rooms is encrypted",
    ]
    assert {each.level for each in found} == {"ok"}


def test_a_check_confirms_nothing(server) -> None:
    """A sync without `since` deletes nothing, and no key is uploaded."""
    server.answers[""] = answer("s1", join={ROOM: ENCRYPTED}, invite={"!b": {}})
    check(server, encryption=True)
    assert server.sinces == [""]
    assert {path for path, _ in server.requests} == {
        "/_matrix/client/versions", "/account/whoami", "/sync", "/joined_rooms", "/keys/query",
    }  # fmt: skip
    wanted = json.loads(server.asked("/sync")[0]["filter"])
    assert wanted["room"]["timeline"]["types"] == []


def test_invitations_and_empty_accounts_are_told(server) -> None:
    server.answers[""] = answer("s1", invite={"!b": {}})
    told = words(check(server), "warning")
    assert "the account is in no room" in told
    assert "invitations that wait: 1; those of operators are followed when they come" in told
    assert "none is followed" in words(check(server, join="never"), "warning")


def test_encrypted_rooms_need_keys(server, tmp_path) -> None:
    server.answers[""] = answer("s1", join={ROOM: ENCRYPTED})
    assert "encrypted rooms: 1; what is said there is not read" in words(check(server), "warning")
    first = check(server, encryption=True, folder=tmp_path)
    assert "gets its keys when the source first starts" in words(first, "ok")
    server.fixed["/keys/query"] = {"device_keys": {USER: {"DEVICE": {"keys": {}}}}}
    assert "the device has keys, but not in" in words(check(server, encryption=True, folder=tmp_path), "problem")
    KeyStore(tmp_path, USER, "DEVICE").close()
    assert "keys for what was said there: 0" in words(check(server, encryption=True, folder=tmp_path), "ok")
    server.fixed["/account/whoami"] = {"user_id": USER}
    assert "the token has no device for keys" in words(check(server, encryption=True), "problem")


@pytest.mark.parametrize(
    ("path", "step", "problem"),
    [
        (
            "/account/whoami",
            {"status": 401, "body": {"errcode": "M_UNKNOWN_TOKEN"}},
            "does not accept the access token",
        ),
        ("/account/whoami", {"body": {"user_id": "@other:hs.test"}}, f"is that of @other:hs.test, not of {USER}"),
        ("/_matrix/client/versions", {"raw": "<html>"}, "is this a homeserver at all?"),
        ("/sync", {"status": 500, "body": {}}, "in trouble: 500"),
    ],
)
def test_a_check_names_what_stands_in_the_way(server, path, step, problem) -> None:
    server.script[path] = [step]
    assert problem in words(check(server), "problem")


def test_a_missing_token_is_a_problem(server) -> None:
    adapter = source(server)

    def missing() -> str:
        raise PermanentSourceError("sources.matrix.ops.token is not set")

    adapter.token = missing
    assert "token is not set" in words(asyncio.run(adapter.check()), "problem")


def test_an_unencrypted_way_is_a_warning(server) -> None:
    adapter = source(server)
    adapter.homeserver = "http://hs.invalid:1"
    found = asyncio.run(adapter.check())
    assert "all messages go to hs.invalid:1 unencrypted" in words(found, "warning")
    assert "cannot be reached" in words(found, "problem")


def test_a_password_is_not_tried(server, tmp_path) -> None:
    """A login would be a new device."""
    adapter = source(server, folder=tmp_path, password=lambda: "words")
    adapter.token = None
    assert "has not logged in yet" in words(asyncio.run(adapter.check()))
    (tmp_path / FILE).write_text(json.dumps({"user": USER, "device": "DEVICE", "token": TOKEN}))
    assert f"the token is that of {USER}" in words(asyncio.run(adapter.check()))
    server.script["/account/whoami"] = [{"status": 401, "body": {"errcode": "M_UNKNOWN_TOKEN"}}]
    assert "logs in anew when it starts, as the same device" in words(asyncio.run(adapter.check()), "warning")
    assert not [path for path, _ in server.requests if path == "/login"]
