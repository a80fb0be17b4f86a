"""Where signal-cli's JSON-RPC listens: `host:port`, or the path of its socket."""

import re
from dataclasses import dataclass
from typing import Final

USUAL_ADDRESS: Final = "127.0.0.1:7583"
"""Where `signal-cli daemon --tcp` listens when it is not told otherwise."""

_TCP: Final = re.compile(r"(?P<host>[A-Za-z0-9_.-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\]):(?P<port>[0-9]{1,5})")
_MAX_PORT: Final = 65_535
_MAX_PATH_BYTES: Final = 107
"""What Linux takes as the path of a socket."""

_HERE: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Address:
    """A place to connect to: either `path` is set, or `host` and `port` are."""

    text: str
    path: str | None = None
    host: str = ""
    port: int = 0

    @classmethod
    def of(cls, text: str) -> "Address":
        """Read an address as a person writes it; raises `ValueError`."""
        if text.startswith("/") and text.isprintable() and len(text.encode()) <= _MAX_PATH_BYTES:
            return cls(text, path=text)
        found = _TCP.fullmatch(text)
        if found is None or not 0 < int(found["port"]) <= _MAX_PORT:
            raise ValueError(f"an address of signal-cli, such as {USUAL_ADDRESS} or /run/signal-cli/socket")
        return cls(text, host=found["host"].strip("[]"), port=int(found["port"]))

    @property
    def local(self) -> bool:
        """Whether what is said there stays on this machine."""
        return self.path is not None or self.host in _HERE
