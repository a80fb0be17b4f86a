"""The daemon: one process that reads the sources, runs the processors, and answers how it is.

It stops in two steps within `DRAIN_SECONDS`: nothing more is asked of the sources, then what is under way is finished.
Nothing depends on a clean stop: whatever is not in the log is read again from the checkpoints. A second signal, or the
end of that time, ends the process at once.
"""

import asyncio
import os
import signal
import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Final

import structlog

from adapters.contract import Adapter
from ingest.advice import advise
from ingest.capture import Capturing
from ingest.endpoints import HttpServer, PortInUseError, server_of
from ingest.health import Health
from ingest.heartbeat import Heartbeat
from ingest.locks import DAEMON_LOCK, PROCESSORS_LOCK, Lock, holder, try_lock
from ingest.log.contract import EventLog, LogError, Retention, Topic
from ingest.log.open import open_log
from ingest.log_watch import watch_log
from ingest.metrics import Metrics
from ingest.notify import Notifier
from ingest.parts import Context, Part, load_parts, part_names, start_parts, stop_parts
from ingest.settings import Settings
from ingest.sources import routes_of
from ingest.streams.engines import Processors, claim_turn, processing_of

CAPTURE: Final = "capture"
PROCESS: Final = "process"
PARTS: Final = (CAPTURE, PROCESS)
"""The daemon's own parts; `ingest.parts` finds those of the floors above. `--only` can choose among all of them."""

DRAIN_SECONDS: Final = 9.0
"""A stop takes less than the ten seconds that are promised, the end of the interpreter included."""

LOG_SECONDS: Final = 2.0
"""What calls of the log are left for when the drain begins. An append takes well under one; the rest of `DRAIN_SECONDS`
is for clients to disconnect from brokers that are away: three seconds when a call ends, three when the log closes."""

WATCH_SECONDS: Final = 0.25
"""How soon the end of the first sweep is noticed."""

BEAT_SECONDS: Final = 5.0
"""Between two lines to the service manager; a shorter watchdog shortens it."""

EXTENSION_SECONDS: Final = 30.0
"""More time to start, asked for at each beat of a first sweep that makes progress."""

RETENTION_SECONDS: Final = 3600.0

CATCH_UP_SECONDS: Final = 10.0
"""Nothing is removed that a consumer has yet to read, and after a start they have some to read."""

MAX_THREADS: Final = 32
"""Each source blocks in one thread to read and one to append; Python's default of a small machine is six."""

_log = structlog.get_logger(__name__)


class StartError(Exception):
    """The daemon cannot start; the message says why and what to do."""


@dataclass(slots=True)
class Daemon:
    """What runs in the event loop, between opening and closing the log."""

    settings: Settings
    log: EventLog
    adapters: list[Adapter]
    processes: bool
    """Whether this process runs the processors."""
    http: HttpServer | None
    health: Health
    metrics: Metrics
    turn: Lock | None = None
    """The processors' lock, when this process holds it already."""
    notifier: Notifier = field(default_factory=Notifier)
    parts: Sequence[Part] = ()

    async def run(self) -> None:
        """Run until a signal says to stop."""
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(MAX_THREADS))
        stop = asyncio.Event()
        _on_signals(stop)
        processing = self._processing()
        wake = processing.wake if processing else lambda: None
        capturing = Capturing(self.log, self.adapters, self.health, self.metrics, on_commit=wake)
        self.metrics.watch(self.health, self.log)
        self.health.log_open = True
        if self.http:
            self.http.start()
        capturing.start()
        if processing:
            processing.start()
        await start_parts(self.parts, Context(self.settings, self.log, self.health, self.metrics))
        works = {
            "beat": self._beat(),
            "retention": self._retain(),
            "log": watch_log(self.log, self.health),
            "heartbeat": Heartbeat(self.log, self.health, self.metrics, wake).run(),
            "advice": advise(self.settings, self.log, self.health),
        }
        chores = [asyncio.create_task(self._chore(name, work)) for name, work in works.items()]
        await stop.wait()
        await self._drain(capturing, processing, chores)

    def _processing(self) -> Processors | None:
        if not self.processes:
            return None
        return processing_of(self.settings, self.log, self.health, self.metrics, self.turn)

    async def _drain(self, sources: Capturing, processing: Processors | None, chores: list[asyncio.Task[None]]) -> None:
        self.health.stopping = True
        self.notifier.stopping()
        self.notifier.extend_timeout(DRAIN_SECONDS + 1)
        _log.info("stopping")
        for chore in chores:
            chore.cancel()
        self.log.finish_within(LOG_SECONDS)
        await sources.stop()
        if processing:
            await processing.stop()
        await stop_parts(self.parts)
        if self.http:
            await self.http.stop()
        await asyncio.gather(*chores, return_exceptions=True)

    async def _chore(self, name: str, work: Coroutine[None, None, None]) -> None:
        """Keep a chore's failure from being silent."""
        try:
            await work
        except Exception as error:  # noqa: BLE001 - whatever it is, readiness and the log tell it
            self.health.problems[name] = f"unexpected {type(error).__name__}; see the daemon's log"
            _log.exception("chore-failed", chore=name, error_type=type(error).__name__)

    async def _beat(self) -> None:
        """Tell the service manager, and whoever waits for the start, how things are."""
        ready = False
        beat = min(BEAT_SECONDS, (self.notifier.watchdog_seconds or BEAT_SECONDS * 2) / 2)
        while True:
            if not ready and self.health.tried:
                ready = True
                self.notifier.ready()
                _log.info("ready", reservations=self.health.not_ready())
            if self.http and self.http.ended:
                self.health.problems["http"] = "the HTTP server has ended; see the daemon's log"
            stuck = self.health.activity.stuck()
            if not stuck:
                self.notifier.watchdog()
                if not ready:
                    self.notifier.extend_timeout(EXTENSION_SECONDS)
            self.notifier.status(_status(self.health, ready, stuck))
            await asyncio.sleep(beat if ready else min(beat, WATCH_SECONDS))

    async def _retain(self) -> None:
        """Remove what is older than the settings say: at start, once the consumers had their turn, and then hourly."""
        keep, pause = self.settings.retention.keep, CATCH_UP_SECONDS
        while keep is not None:
            try:
                policy = dict.fromkeys(Topic, Retention(max_age_s=keep.total_seconds()))
                trimmed = await asyncio.to_thread(self.log.trim, policy, int(time.time() * 1000))
                _log.info("retention", removed=sum(trimmed.records.values()))
            except LogError as error:
                _log.error("retention-failed", error_type=type(error).__name__, reason=str(error))
                self.metrics.failed("log", "retention", type(error).__name__)
            await asyncio.sleep(pause)
            pause = RETENTION_SECONDS


def run(
    settings: Settings,
    only: Iterable[str],
    adapters_of: Callable[[Settings], list[Adapter]],
    on_start: Callable[[str | None], None] = lambda _: None,
) -> int:
    """Run the parts named in `only`, all when empty, until a signal; gives the exit status.

    `on_start` is told the address of the HTTP server once everything is open. Raises `StartError` before that.
    """
    parts = set(only) or {*PARTS, *part_names()}
    os.umask(0o077)  # conversations are nobody else's business
    with ExitStack() as held:
        try:
            lock = held.enter_context(_claim(settings, parts))
            health, metrics = Health(), Metrics()
            adapters = adapters_of(settings) if CAPTURE in parts else []
            http, url = server_of(settings.http, health, metrics, routes_of(adapters))
            log = held.enter_context(open_log(settings))
        except (PortInUseError, LogError) as error:
            raise StartError(str(error)) from error
        except OSError as error:
            raise StartError(f"state directory {settings.state_dir}: {error.strerror or error}") from error
        lock.describe(url)
        on_start(url)
        turn = None if CAPTURE in parts else lock
        others = load_parts(parts)
        asyncio.run(Daemon(settings, log, adapters, PROCESS in parts, http, health, metrics, turn, parts=others).run())
    _log.info("stopped")
    return 0


def _claim(settings: Settings, parts: set[str]) -> Lock:
    """Take the lock of these parts: whoever only processes leaves the sources to another process."""
    name = DAEMON_LOCK if CAPTURE in parts else PROCESSORS_LOCK if PROCESS in parts else f"{min(parts)}-part.lock"
    lock = claim_turn(settings) if name == PROCESSORS_LOCK else try_lock(settings.state_dir / name)
    if lock is not None:
        return lock
    by = holder(settings.state_dir / name)
    pid = f"process {by.pid}, since {by.since}" if by else "another process"
    raise StartError(
        f"already running on {settings.state_dir}: {pid}; stop it, or choose another state_dir for a second one"
    )


def _on_signals(stop: asyncio.Event) -> None:
    """First signal: drain, with a limit; second: leave at once."""

    def received(number: int) -> None:
        if stop.is_set():
            os._exit(128 + number)
        stop.set()
        limit = threading.Timer(DRAIN_SECONDS, _give_up)
        limit.daemon = True
        limit.start()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, received, number)


def _give_up() -> None:
    _log.error("drain-incomplete", seconds=DRAIN_SECONDS, advice="nothing is lost; the rest is read at the next start")
    os._exit(1)


def _status(health: Health, ready: bool, stuck: list[str]) -> str:
    """One line for `systemctl status`."""
    if stuck:
        return f"stuck: {stuck[0]}"
    events = sum(source.counts["emitted"] for source in health.sources.values())
    if not ready:
        return f"reading what is there: {events} events so far"
    reasons = health.not_ready()
    return f"{events} events since start" + (f"; {reasons[0]}" if reasons else "")
