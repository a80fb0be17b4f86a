"""A server that tests start, kill, stop where it stands, and let go on."""

import os
import signal
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    import subprocess


class ServerProcess:
    """One process of a server; what it is comes from `start`, which sets `_process`. Its own context manager."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def running(self) -> bool:
        """Whether its process is there."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start, and wait until it answers."""
        raise NotImplementedError

    def kill(self) -> None:
        """End it as `kill -9` does; a server that is down stays down."""
        self._signal(signal.SIGKILL)
        if self._process is not None:
            self._process.wait()
            self._process = None

    def pause(self) -> None:
        """Let it hang: connections stay open, nothing is answered. It has stopped when this returns."""
        self._signal(signal.SIGSTOP)
        assert self._process is not None
        os.waitid(os.P_PID, self._process.pid, os.WSTOPPED | os.WNOWAIT)

    def resume(self) -> None:
        """Let it go on."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        if self._process is not None and self.running:
            self._process.send_signal(number)
