"""Processes that die at a given step: SIGKILL, so that nothing is cleaned up."""

import os
import signal
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any


def dies_at(step: int, places: tuple[Path, ...], act: Callable[[], None]) -> bool:
    """Run `act` in a process of its own that kills itself before it executes line number `step` of those in `places`.

    `places` are files or folders. Gives whether it died: it may come to its end before. A failure of it is one here.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a test runner has threads; the child uses none of them
        child = os.fork()
    if child == 0:
        _act_and_exit(step, tuple(str(place) for place in places), act)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == 0, "the process failed; its traceback stands on standard error"
    return False


def lines_of(places: tuple[Path, ...], act: Callable[[], None]) -> int:
    """Count the lines in `places` that `act` executes, in this process."""
    counter = _Counter(tuple(str(place) for place in places), None)
    former = sys.gettrace()
    sys.settrace(counter)
    try:
        act()
    finally:
        sys.settrace(former)
    return counter.count


def _act_and_exit(step: int, places: tuple[str, ...], act: Callable[[], None]) -> None:
    status = 1
    try:
        sys.settrace(_Counter(places, step))
        act()
        status = 0
    finally:
        if status:
            sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
        os._exit(status)


class _Counter:
    def __init__(self, places: tuple[str, ...], last: int | None) -> None:
        self.count = 0
        self._places = places
        self._last = last

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(self._places):
            return None
        return self._line

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self.count += 1
            if self.count == self._last:
                os.kill(os.getpid(), signal.SIGKILL)
        return self._line
