"""Looks at the log now and then, so that readiness tells what is wrong with it before anybody wants to write.

Nothing here mends: whoever uses the log tries again by itself, and goes on as soon as it can.
"""

import asyncio
from typing import Final

import structlog

from ingest.health import LOG_PART, Health
from ingest.log.contract import EventLog

LOOK_SECONDS: Final = 10.0
"""Brokers that went away show within as many seconds; a look costs them three small requests."""

_log = structlog.get_logger(__name__)


async def watch_log(log: EventLog, health: Health) -> None:
    """Keep `health.problems` up to date with what the log says of itself, for ever."""
    before: list[str] = []
    while True:
        problems = await asyncio.to_thread(log.problems)
        for problem in problems:
            if problem not in before:
                _log.error("log-problem", reason=problem)
        if before and not problems:
            _log.info("log-well-again")
        if problems:
            more = f" (and {len(problems) - 1} more; see session-ingest topics)" if len(problems) > 1 else ""
            health.problems[LOG_PART] = problems[0] + more
        else:
            health.problems.pop(LOG_PART, None)
        before = problems
        await asyncio.sleep(LOOK_SECONDS)
