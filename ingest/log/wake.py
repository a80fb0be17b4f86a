"""Waiting for new records: told at once within a process, by a slow look at the file across processes."""

from collections.abc import Callable
from threading import Condition
from time import monotonic
from typing import Final

POLL_S: Final = 0.25
"""How often other processes' commits are looked for: one small read of each topic, a twentieth of a percent of a core.
This process's own are told at once."""


class Bell:
    """Rung after each commit of this process."""

    def __init__(self) -> None:
        self._condition = Condition()
        self._rung = 0

    def ring(self) -> None:
        """Wake all who wait."""
        with self._condition:
            self._rung += 1
            self._condition.notify_all()

    def wait(self, there: Callable[[], bool], timeout_s: float) -> bool:
        """Wait until `there` holds, asking after each ring and each `POLL_S`; whether it does."""
        end = monotonic() + timeout_s
        while True:
            heard = self._rung
            if there():
                return True
            left = end - monotonic()
            if left <= 0:
                return False
            with self._condition:
                # What rang since the question was asked must not be missed.
                if self._rung == heard:
                    self._condition.wait(min(left, POLL_S))
