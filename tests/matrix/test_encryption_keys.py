"""Keys and logins against a real homeserver: what it counts, forgets and hands out is what our side goes by."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from nio import DummyEvent

from adapters.chat.matrix_api import CLIENT, MatrixApi
from adapters.chat.matrix_device import ONE_TIME_KEYS, SIGNED, TOO_FEW
from adapters.chat.matrix_keys import Keys
from adapters.chat.matrix_login import with_password
from adapters.contract import PermanentSourceError
from tests.support.matrix import Person, edit_of
from tests.support.matrix_sealed import Sealing
from tests.support.synapse import PASSWORD, Homeserver


class Ours:
    """Our side: a login by password, its keys, and how far it has read."""

    def __init__(self, api: MatrixApi, keys: Keys, device: str) -> None:
        self.api, self.keys, self.device = api, keys, device
        self.since: str | None = None
        self.answer: dict[str, Any] = {}

    async def read(self, room: str = "") -> list[Any]:
        """Take a sync answer twice, as after a crash before the commit; gives what the encrypted events say."""
        for _ in range(2):
            self.answer = await self.api.sync(self.since, 0.0, {})
            self.warned = await self.keys.take(self.answer, self.api.call)
        self.since = self.answer["next_batch"]
        events = self.answer.get("rooms", {}).get("join", {}).get(room, {}).get("timeline", {}).get("events", [])
        return [self.keys.decrypt(room, event) for event in events if event["type"] == "m.room.encrypted"]

    @property
    def one_time_keys(self) -> int:
        """How many of ours the server has, by its last answer."""
        count: int = self.answer["device_one_time_keys_count"][SIGNED]
        return count


@asynccontextmanager
async def started(url: str, user: str, folder: Path) -> AsyncIterator[Ours]:
    """Log in as at a start of the source."""
    async with MatrixApi(url) as api:
        login = await with_password(api, user, PASSWORD, folder)
        keys = Keys.open(folder, login.user, login.device)
        try:
            ours = Ours(api, keys, login.device)
            await ours.read()
            await ours.read()
            yield ours
        finally:
            keys.close()


def run(test: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(test())


def bodies(events: list[Any]) -> list[str | None]:
    return [event and event["content"]["body"] for event in events]


@pytest.fixture
def ingest(homeserver: Homeserver) -> Person:
    return homeserver.person("ingest")


@pytest.fixture
def alice(homeserver: Homeserver) -> Sealing:
    return Sealing(homeserver.person("alice"))


async def entered(ours: Ours, alice: Sealing, ingest: Person) -> str:
    """Make an encrypted room that both are in, and let her know our device."""
    room = alice.make_room("Vault")
    alice.person.invite(room, ingest)
    await ours.api.join(room, None, 30.0)
    alice.meet(ingest)
    return room


def test_keys_that_come_late_and_in_time_and_a_restart(homeserver, ingest, alice, tmp_path) -> None:
    """Each answer is taken twice; the server gives the messages to the device again until the next `since`."""
    said: list[str] = []

    async def before() -> str:
        async with started(homeserver.url, ingest.user, tmp_path) as ours:
            assert ours.one_time_keys == ONE_TIME_KEYS
            room = await entered(ours, alice, ingest)
            key = alice.new_key(room, ingest)
            said.append(alice.say(room, "early"))
            assert bodies(await ours.read(room)) == [None]
            alice.bring(key)
            said.append(alice.say(room, "in time"))
            alice.send(room, edit_of(said[1], "mended"))
            in_time, edit = await ours.read(room)
            assert in_time["content"]["body"] == "in time"
            assert edit["content"]["m.relates_to"]["event_id"] == said[1]
            assert ours.warned == []
            early = await ours.api.event(room, said[0])
            assert bodies([ours.keys.decrypt(room, early)]) == ["early"]
            return room

    async def after() -> None:
        async with started(homeserver.url, ingest.user, tmp_path) as ours:
            events = [await ours.api.event(room, event) for event in said]
            assert bodies([ours.keys.decrypt(room, event) for event in events]) == ["early", "in time"]
            alice.share(room, ingest)
            alice.say(room, "with a new key")
            assert bodies(await ours.read(room)) == ["with a new key"]

    room = asyncio.run(before())
    run(after)


def test_a_device_that_was_logged_out_comes_back_under_its_name(homeserver, ingest, alice, tmp_path) -> None:
    """The server has forgotten its keys, and is given them again; what it could read it still can."""

    async def test() -> None:
        async with started(homeserver.url, ingest.user, tmp_path) as ours:
            room, device = await entered(ours, alice, ingest), ours.device
            alice.share(room, ingest)
            event = alice.say(room, "before")
            assert bodies(await ours.read(room)) == ["before"]
            await ours.api.call("POST", f"{CLIENT}/logout", {})
        async with started(homeserver.url, ingest.user, tmp_path) as ours:
            assert ours.device == device
            assert ours.one_time_keys == ONE_TIME_KEYS
            assert bodies([ours.keys.decrypt(room, await ours.api.event(room, event))]) == ["before"]
            alice.share(room, ingest)
            alice.say(room, "after")
            assert bodies(await ours.read(room)) == ["after"]

    run(test)


def test_one_time_keys_are_made_up_when_the_server_runs_low(homeserver, ingest, alice, tmp_path) -> None:
    async def test() -> None:
        async with started(homeserver.url, ingest.user, tmp_path) as ours:
            wanted = {"one_time_keys": {ingest.user: {ours.device: SIGNED}}}
            for _ in range(ONE_TIME_KEYS - TOO_FEW + 1):
                alice.person.call("POST", "/keys/claim", wanted)
            await ours.read()
            await ours.read()
            assert ours.one_time_keys == ONE_TIME_KEYS
            room = await entered(ours, alice, ingest)
            alice.share(room, ingest)
            alice.say(room, "hi")
            assert bodies(await ours.read(room)) == ["hi"]

    run(test)


def test_a_source_that_was_away_for_long_is_still_given_keys(homeserver, ingest, alice, tmp_path) -> None:
    """All one-time keys are used up; the fallback key serves whoever comes, and is then changed."""

    async def test() -> None:
        async with started(homeserver.url, ingest.user, tmp_path) as ours:
            room = await entered(ours, alice, ingest)
            wanted = {"one_time_keys": {ingest.user: {ours.device: SIGNED}}}
            for _ in range(ONE_TIME_KEYS):
                alice.person.call("POST", "/keys/claim", wanted)
            alice.share(room, ingest)
            alice.say(room, "hi")
            assert bodies(await ours.read(room)) == ["hi"]
            await ours.read()
            assert (ours.one_time_keys, ours.answer["device_unused_fallback_key_types"]) == (ONE_TIME_KEYS, [SIGNED])

    run(test)


def test_a_broken_session_is_made_anew(homeserver, ingest, alice, tmp_path) -> None:
    async def test() -> None:
        async with started(homeserver.url, ingest.user, tmp_path) as ours:
            room = await entered(ours, alice, ingest)
            alice.share(room, ingest)
            await ours.read()
            ours.keys._store._execute("DELETE FROM olm_sessions")
            alice.share(room, ingest)
            await ours.read()
            (message,) = alice.person.call("GET", "/sync")["to_device"]["events"]
            assert message["sender"] == ingest.user
            assert isinstance(alice.receive(message["content"], ingest.user), DummyEvent)
            alice.share(room, ingest)
            alice.say(room, "back again")
            assert bodies(await ours.read(room)) == ["back again"]

    run(test)


def test_keys_that_were_lost_are_told(homeserver, ingest, tmp_path) -> None:
    """The login was kept, the keys were not: the server knows the device with others."""

    async def test() -> None:
        async with started(homeserver.url, ingest.user, tmp_path):
            pass
        for path in tmp_path.glob("keys.db*"):
            path.unlink()
        with pytest.raises(PermanentSourceError, match="with other keys"):
            async with started(homeserver.url, ingest.user, tmp_path):
                pass

    run(test)


def test_a_wrong_password_is_told(homeserver, ingest, tmp_path) -> None:
    async def test() -> None:
        async with MatrixApi(homeserver.url) as api:
            await with_password(api, ingest.user, "not the password", tmp_path)

    with pytest.raises(PermanentSourceError, match="M_FORBIDDEN") as told:
        run(test)
    assert "not the password" not in str(told.value)
