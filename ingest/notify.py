"""Tells systemd how the daemon is: one datagram a message on `NOTIFY_SOCKET`; without it every call does nothing.

Source: sd_notify(3); a name that begins with `@` is in the abstract namespace.
"""

import os
import socket
from collections.abc import Mapping
from typing import Final

_MICROSECONDS: Final = 1_000_000


class Notifier:
    """The way to the service manager that started this process."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        values = os.environ if environment is None else environment
        self._address = _address(values.get("NOTIFY_SOCKET", ""))
        self.watchdog_seconds = _watchdog_seconds(values)
        """The longest silence that the service manager accepts; None when it does not watch."""

    def ready(self) -> bool:
        """Say that the start is done."""
        return self._send("READY=1")

    def stopping(self) -> bool:
        """Say that a stop has begun."""
        return self._send("STOPPING=1")

    def status(self, text: str) -> bool:
        """Say in one line for people what goes on; line breaks would start another field."""
        return self._send(f"STATUS={' '.join(text.split())}")

    def watchdog(self) -> bool:
        """Say that the process makes progress; the caller must know that it does."""
        return self._send("WATCHDOG=1")

    def extend_timeout(self, seconds: float) -> bool:
        """Ask for more time to start or stop, from now on."""
        return self._send(f"EXTEND_TIMEOUT_USEC={int(seconds * _MICROSECONDS)}")

    def _send(self, message: str) -> bool:
        """Whether the message was handed over: a manager that is gone must not stop the daemon."""
        if self._address is None:
            return False
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as channel:
            channel.setblocking(False)
            try:
                channel.sendto(message.encode(), self._address)
            except OSError:
                return False
        return True


def _address(name: str) -> str | None:
    if name.startswith("@"):
        return "\0" + name[1:]
    return name if name.startswith("/") else None


def _watchdog_seconds(environment: Mapping[str, str]) -> float | None:
    """The interval of `WATCHDOG_USEC` when it is meant for this process."""
    if environment.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return None
    text = environment.get("WATCHDOG_USEC", "")
    return int(text) / _MICROSECONDS if text.isascii() and text.isdigit() and int(text) > 0 else None
