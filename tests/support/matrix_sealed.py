"""A person whose messages are encrypted by matrix-nio, on a device of its own at a real homeserver."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from tests.support.matrix import Person, words
from tests.support.matrix_olm import Sender

ENCRYPTED = "m.room.encrypted"
MEGOLM = "m.megolm.v1.aes-sha2"


T = TypeVar("T")


class Sealing:
    """Encrypts what `person` says; who reads has to have uploaded the keys of a device before a key is shared.

    It may be used by any thread; nio's store by that alone which has made it.
    """

    def __init__(self, person: Person) -> None:
        self.person = person
        self._thread = ThreadPoolExecutor(1)
        self._sender = self._thread.submit(Sender, person.user, person.device).result()
        person.call("POST", "/keys/upload", self._nio(self._sender.olm.share_keys))
        self._shares = 0

    def make_room(self, name: str, *guests: Person) -> str:
        """Make an encrypted room that guests are in; gives its id."""
        state = {"type": "m.room.encryption", "state_key": "", "content": {"algorithm": MEGOLM}}
        return self.person.make_room(name, *guests, initial_state=[state])

    def meet(self, reader: Person) -> None:
        """Learn the reader's devices, and begin sessions with them by their one-time keys."""
        queried = self.person.call("POST", "/keys/query", {"device_keys": {reader.user: []}})
        devices = queried["device_keys"][reader.user]
        assert devices, "the reader has no device with keys"
        wanted = {reader.user: dict.fromkeys(devices, "signed_curve25519")}
        claimed = self.person.call("POST", "/keys/claim", {"one_time_keys": wanted})
        self._nio(lambda: self._sender.meet(queried, claimed))

    def new_key(self, room: str, *readers: Person) -> dict[str, Any]:
        """Make a new key for a room; gives the messages that would bring it to the readers' devices."""
        return self._nio(lambda: self._sender.key_contents(room, [reader.user for reader in readers]))

    def bring(self, key: dict[str, Any]) -> None:
        """Send the messages of a key."""
        self._shares += 1
        self.person.call("PUT", f"/sendToDevice/{ENCRYPTED}/k{self._shares}", {"messages": key})

    def share(self, room: str, reader: Person) -> None:
        """Make a new key for a room, and bring it to the reader."""
        self.bring(self.new_key(room, reader))

    def say(self, room: str, body: str, **members: Any) -> str:
        """Send an encrypted text message; gives its id."""
        return self.send(room, words(body, **members))

    def send(self, room: str, content: dict[str, Any], kind: str = "m.room.message") -> str:
        """Send any event encrypted; gives its id."""
        return self.person.send(room, self._nio(lambda: self._sender.encrypt(room, content, kind)), ENCRYPTED)

    def receive(self, content: dict[str, Any], sender: str) -> Any:
        """Read a message to this device as nio does."""
        return self._nio(lambda: self._sender.receive(content, sender))

    def _nio(self, work: Callable[[], T]) -> T:
        return self._thread.submit(work).result()


def has_device(person: Person) -> bool:
    """Whether a device of the account has its keys at the server."""
    found = person.call("POST", "/keys/query", {"device_keys": {person.user: []}})["device_keys"]
    return bool(found.get(person.user))
