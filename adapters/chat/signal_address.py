"""Where signal-cli's JSON-RPC listens: `host:port`, the path of its socket, or `http://host:port`."""

import re
from dataclasses import dataclass
from typing import Final

USUAL_ADDRESS: Final = "127.0.0.1:7583"
"""Where `signal-cli daemon --tcp` listens when it is not told otherwise."""

_PLACE: Final = re.compile(
    r"(?P<http>http://)?(?P<host>[A-Za-z0-9_.-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\]):(?P<port>[0-9]{1,5})(?(http)/?)"
)
_MAX_PORT: Final = 65_535
_MAX_PATH_BYTES: Final = 107
"""What Linux takes as the path of a socket."""

_HERE: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Address:
    """A place to connect to: either `path` is set, or `host` and `port` are; `http` says that HTTP is spoken there."""

    text: str
    path: str | None = None
    host: str = ""
    port: int = 0
    http: bool = False

    @classmethod
    def of(cls, text: str) -> "Address":
        """Read an address as a person writes it; raises `ValueError`."""
        if text.startswith("/") and text.isprintable() and len(text.encode()) <= _MAX_PATH_BYTES:
            return cls(text, path=text)
        found = _PLACE.fullmatch(text)
        if found is None or not 0 < int(found["port"]) <= _MAX_PORT:
            examples = f"{USUAL_ADDRESS}, /run/signal-cli/socket or http://127.0.0.1:8080"
            raise ValueError(f"an address of signal-cli, such as {examples}")
        return cls(text, host=found["host"].strip("[]"), port=int(found["port"]), http=found["http"] is not None)

    @property
    def local(self) -> bool:
        """Whether what is said there stays on this machine."""
        return self.path is not None or self.host in _HERE

    @property
    def option(self) -> str:
        """The option by which `signal-cli daemon` listens at such an address."""
        if self.http:
            return "--http"
        return "--tcp" if self.path is None else "--socket"
