"""A signal-cli daemon without Signal: its JSON-RPC over TCP or a UNIX socket, by the rules of the real one.

An envelope is handed out once, to every subscription there is at that moment, and forgotten; in manual mode what nobody
has subscribed to is kept, in mode `on-start` it is lost. Read in signal-cli 0.13: `SignalJsonRpcDispatcherHandler` (the
numbers of subscriptions run through all connections, a connection ends its own only), `SignalJsonRpcCommandHandler`.
"""

import json
import socket
import threading
from collections import deque
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, Self

ACCOUNT = "+15550100001"


class FakeSignal:
    """The daemon; its own context manager. `waiting` is what Signal's server holds, `delivered` what was handed out.

    `single` runs it for one account, `on_start` in its default mode, `mute` makes it say nothing more at all.
    """

    def __init__(self, path: Path | None = None, *, single: bool = False, on_start: bool = False) -> None:
        self.single, self.on_start, self.mute = single, on_start, False
        self.version = "0.13.19"
        self.accounts = [ACCOUNT]
        self.waiting: deque[dict[str, Any]] = deque()
        self.delivered: list[dict[str, Any]] = []
        self.calls: list[str] = []
        self.connections: list[Connection] = []
        self.lock = threading.RLock()
        self.numbers = count()
        self._server = socket.socket(socket.AF_UNIX if path else socket.AF_INET)
        self._server.bind(str(path) if path else ("127.0.0.1", 0))
        self.address = str(path) if path else f"127.0.0.1:{self._server.getsockname()[1]}"

    def __enter__(self) -> Self:
        self._server.listen()
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.close()
        self.close_all()

    def add(self, *notifications: dict[str, Any]) -> None:
        """Let messages arrive at Signal's server: what a daemon gives for each as `params`."""
        with self.lock:
            self.waiting += notifications
            self.flow()

    def flow(self) -> None:
        """Hand out what waits, if anybody receives."""
        with self.lock:
            while self.waiting and (self.on_start or self.subscriptions):
                result = self.waiting.popleft()
                for connection in self.connections:
                    for number, bare in list(connection.subscriptions.items()):
                        params = result if bare else {"subscription": number, "result": result}
                        connection.say({"jsonrpc": "2.0", "method": "receive", "params": params})
                self.delivered.append(result)

    @property
    def subscriptions(self) -> int:
        """How many there are now."""
        return sum(len(connection.subscriptions) for connection in self.connections)

    def send_raw(self, data: bytes) -> None:
        """Write bytes to every connection as they are."""
        with self.lock:
            for connection in self.connections:
                connection.send(data)

    def close_all(self) -> None:
        """Break all connections."""
        with self.lock:
            for connection in list(self.connections):
                connection.close()

    def connect(self, peer: socket.socket) -> "Connection":
        """Make a connection with a client."""
        return Connection(self, peer)

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                peer, _ = self._server.accept()
                connection = self.connect(peer)
                with self.lock:
                    self.connections.append(connection)
                    if self.on_start:
                        connection.subscriptions[next(self.numbers)] = True
                threading.Thread(target=connection.run, daemon=True).start()


class Connection:
    """One client: its subscriptions, by number, and whether each is the daemon's own (bare notifications)."""

    def __init__(self, daemon: FakeSignal, peer: socket.socket) -> None:
        self.subscriptions: dict[int, bool] = {}
        self.daemon = daemon
        self.peer = peer

    def run(self) -> None:
        with suppress(OSError), self.peer.makefile("rb") as lines:
            for line in lines:
                with self.daemon.lock:
                    self.say(self.answered(line))
                    self.daemon.flow()
        self.close()

    def say(self, value: object) -> None:
        self.send(json.dumps(value).encode() + b"\n")

    def send(self, data: bytes) -> None:
        if not self.daemon.mute:
            with suppress(OSError):  # who went away has lost it: so it is with the real one
                self.peer.sendall(data)

    def close(self) -> None:
        with self.daemon.lock:
            if self in self.daemon.connections:
                self.daemon.connections.remove(self)
        with suppress(OSError):
            self.peer.shutdown(socket.SHUT_RDWR)
        self.peer.close()

    def answered(self, line: bytes) -> Any:
        """Give the answer to one call, or to several."""
        try:
            asked = json.loads(line)
        except ValueError:
            return {"jsonrpc": "2.0", "error": {"code": -32700, "message": "Parse error"}, "id": None}
        return [self._answer(each) for each in asked] if isinstance(asked, list) else self._answer(asked)

    def _answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        if not self.daemon.calls or self.daemon.calls[-1] != asked["method"]:
            self.daemon.calls.append(asked["method"])
        told = self._do(asked["method"], asked.get("params") or {})
        outcome = {"result": told} if not isinstance(told, Refused) else {"error": vars(told)}
        return {"jsonrpc": "2.0", **outcome, "id": asked["id"]}

    def _do(self, method: str, params: dict[str, Any]) -> Any:
        if "account" in params and not self.daemon.single and params["account"] not in self.daemon.accounts:
            return Refused(-32602, "Specified account does not exist")
        done = getattr(self, f"_{method}", None)
        return done(params) if done else Refused(-32601, "Method not implemented")

    def _version(self, _: object) -> Any:
        return {"version": self.daemon.version}

    def _listAccounts(self, _: object) -> Any:  # noqa: N802 - called as the method is
        if self.daemon.single:
            return Refused(-32601, "Method not implemented")
        return [{"number": number} for number in self.daemon.accounts]

    def _subscribeReceive(self, _: object) -> Any:  # noqa: N802
        number = next(self.daemon.numbers)
        self.subscriptions[number] = False
        return number

    def _unsubscribeReceive(self, params: dict[str, Any]) -> Any:  # noqa: N802
        known = self.subscriptions.pop(params.get("subscription", -1), None) is not None
        return {} if known else Refused(-1, "Unknown subscription id")


class Refused:
    def __init__(self, code: int, message: str) -> None:
        self.code, self.message, self.data = code, message, None
