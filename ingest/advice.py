"""What a person should see to though everything works: files that their own program deletes before they are read.

Told by `status` with and without a daemon, by `sources check`, in the daemon's log and in its metrics.
"""

import asyncio
import math
import time
from collections.abc import Mapping
from typing import Final

import structlog

from adapters.sessions import claude_code
from adapters.sessions.claude_code_cleanup import Expiring, expiring
from ingest.health import Health
from ingest.log.contract import EventLog, LogError, LogStatus
from ingest.settings import Settings

CLAUDE_CODE: Final = "claude_code"

FIRST_SECONDS: Final = 60.0
"""A daemon that has just started has yet to read what waits; telling of that would be noise."""

PERIOD_SECONDS: Final = 3600.0
"""Against a notice of a week an hour is nothing, and a look at 10,000 files takes a tenth of a second."""

_log = structlog.get_logger(__name__)


async def advise(settings: Settings, log: EventLog, health: Health) -> None:
    """Look again and again, for ever; what is new is logged once."""
    await asyncio.sleep(FIRST_SECONDS)
    while True:
        try:
            in_danger = await asyncio.to_thread(lambda: expiring_files(settings, log.status(), time.time()))
        except LogError as error:
            _log.warning("advice-not-given", reason=str(error))
        else:
            before, health.advice = health.advice, words(settings, in_danger)
            health.expiring = {source: each.files for source, each in in_danger.items()}
            for source in health.advice.keys() - before.keys():
                _log.warning("files-expire", source=source, reason=health.advice[source])
        await asyncio.sleep(PERIOD_SECONDS)


def told(settings: Settings, found: LogStatus | None, now: float) -> list[str]:
    """What `status` and `sources check` say when no daemon is there to say it; without a log nothing was read."""
    return [f"source {name}: {each}" for name, each in words(settings, expiring_files(settings, found, now)).items()]


def expiring_files(settings: Settings, found: LogStatus | None, now: float) -> Mapping[str, Expiring]:
    """Find the unread files in danger, by source; looks at the disk. `now` is in Unix seconds.

    A source that is switched off counts as one that reads nothing, unless somebody wrote `enabled = false`: then it was
    decided. A file counts as read when it was changed before the source's last checkpoint: a sweep leaves none behind.
    """
    agent = settings.sources.claude_code
    if not agent.enabled and CLAUDE_CODE in settings.sources.model_fields_set:
        return {}
    read_until = _last_checkpoint(found, CLAUDE_CODE) if agent.enabled else 0.0
    in_danger = expiring(agent.paths or claude_code.default_roots(), read_until, now)
    return {CLAUDE_CODE: in_danger} if in_danger else {}


def words(settings: Settings, in_danger: Mapping[str, Expiring]) -> dict[str, str]:
    """Say of each source what is in danger, and what to do."""
    return {source: _words(each, enabled=settings.sources.claude_code.enabled) for source, each in in_danger.items()}


def _words(in_danger: Expiring, *, enabled: bool) -> str:
    files = "1 unread session file" if in_danger.files == 1 else f"{in_danger.files} unread session files"
    days = f"{math.ceil(in_danger.first_days)} days" if in_danger.first_days > 1 else "a day"
    when = "at its next start" if in_danger.first_days <= 0 else f"in {days}"
    do = (
        "let session-ingest run catch up"
        if enabled
        else "set enabled = true in [sources.claude_code] (false, to hear no more of this)"
    )
    return (
        f"Claude Code will delete {files}, the first {when}: its cleanupPeriodDays is {in_danger.period_days:g};"
        f" {do}, or set a longer time in its settings.json"
    )


def _last_checkpoint(found: LogStatus | None, source: str) -> float:
    for each in found.sources if found else ():
        if each.source == source and each.last_checkpoint_ms is not None:
            return each.last_checkpoint_ms / 1000
    return 0.0
