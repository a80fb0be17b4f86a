"""The daemon's own log, to standard error: JSON unless a person reads it on a terminal.

Event names and fields tell what happened and where; words of a conversation are never logged. The loggers of libraries
go the same way. A warning that repeats is written once in ten seconds, with the number of times it was held back.
"""

import logging
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, MutableMapping
from contextlib import suppress
from typing import Any, Final, Literal, TextIO

import structlog

LogFormat = Literal["auto", "json", "console"]
LogLevel = Literal["debug", "info", "warning", "error"]

REPEAT_SECONDS: Final = 10.0
"""A warning or error that repeats within this time is held back: a broken disk must not fill the next one."""

OURS: Final = ("ingest", "adapters", "triage")
"""The packages whose entries keep to the configured level; libraries are heard from `warning` on, or at `debug`."""

_MAX_REMEMBERED: Final = 1000
_LIMITED_LEVELS: Final = frozenset({"warning", "error", "exception", "critical"})
_IDENTITY: Final = ("logger", "event", "source", "error_type", "where")
"""What makes two entries the same: their other fields, such as counts and pauses, may differ."""

EventDict = MutableMapping[str, Any]


class RepeatLimiter:
    """A structlog processor that holds back repeated warnings and counts them; it remembers a bounded number."""

    def __init__(self, seconds: float = REPEAT_SECONDS, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._seen: OrderedDict[tuple[str, ...], tuple[float, int]] = OrderedDict()

    def __call__(self, _logger: object, method: str, event: EventDict) -> EventDict:
        """Pass the entry on, or raise `structlog.DropEvent`."""
        if event.get("level", method) not in _LIMITED_LEVELS:
            return event
        key = tuple(str(event.get(name)) for name in _IDENTITY)
        now = self._clock()
        last, held_back = self._seen.get(key, (float("-inf"), 0))
        if now - last < self._seconds:
            self._seen[key] = (last, held_back + 1)
            raise structlog.DropEvent
        self._remember(key, now)
        if held_back:
            event["repeated"] = held_back
        return event

    def _remember(self, key: tuple[str, ...], now: float) -> None:
        self._seen[key] = (now, 0)
        self._seen.move_to_end(key)
        if len(self._seen) > _MAX_REMEMBERED:
            self._seen.popitem(last=False)


class _Handler(logging.StreamHandler[TextIO]):
    """Passes over what the limiter holds back.

    `structlog.DropEvent` is no `Exception`: nothing else would keep it from ending the library that logged.
    """

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(structlog.DropEvent):
            super().emit(record)


def configure(level: LogLevel = "info", form: LogFormat = "auto", stream: TextIO | None = None) -> bool:
    """Send our log and the libraries' to `stream` (standard error); gives whether it is written for a person."""
    target = sys.stderr if stream is None else stream
    for_people = form == "console" or (form == "auto" and target.isatty())
    handler = _Handler(target)
    handler.setFormatter(_formatter(for_people, target.isatty()))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    # What libraries tell of every request and every changed file would drown what the daemon tells.
    root.setLevel(level.upper() if level in {"debug", "error"} else "WARNING")
    for name in OURS:
        logging.getLogger(name).setLevel(level.upper())
    structlog.configure(
        processors=[*_shared(), structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    return for_people


def _shared() -> list[Any]:
    """What ours and the libraries' entries go through alike."""
    return [
        structlog.stdlib.filter_by_level,
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        RepeatLimiter(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]


def _formatter(for_people: bool, colors: bool) -> logging.Formatter:
    last: list[Any] = (
        # Rich tracebacks would print local variables, and with them words of conversations.
        [structlog.dev.ConsoleRenderer(colors=colors, exception_formatter=structlog.dev.plain_traceback)]
        if for_people
        else [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(default=str)]
    )
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=_shared()[1:],
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last],
    )
