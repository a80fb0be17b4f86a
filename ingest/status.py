"""What `session-ingest status` tells: read from the log without writing to it, whether or not a daemon runs.

A running daemon is asked for the state of its sources; everything else is in the log and outlives it.
"""

import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Final
from urllib.error import HTTPError
from urllib.request import ProxyHandler, build_opener

import msgspec
from msgspec import Struct

from ingest import advice
from ingest.clock import iso
from ingest.locks import DAEMON_LOCK, PROCESSORS_LOCK, Holder, holder, is_held
from ingest.log.contract import SourceStatus
from ingest.settings import Settings
from ingest.status_log import LogView, ProcessorView, read_log

_ANSWER_SECONDS: Final = 2.0
"""A daemon on this machine answers in milliseconds, or is in trouble, which is then what is told."""

_MAX_ANSWER_BYTES: Final = 1_000_000


class DaemonView(Struct, rename="camel"):
    """Whether a daemon runs; `ready` is null when it does not answer, `reasons` say why it is not ready."""

    running: bool
    pid: int | None = None
    since: str | None = None
    url: str | None = None
    ready: bool | None = None
    reasons: list[str] = []


class SourceView(Struct, rename="camel"):
    """One source: `state` is null without a running daemon; times are ISO, ages seconds."""

    name: str
    state: str | None = None
    last_error: str | None = None
    last_event_iso: str | None = None
    last_event_age_seconds: float | None = None
    checkpoint_age_seconds: float | None = None
    parts: int = 0
    counts: dict[str, int] = {}


class Status(Struct, rename="camel"):
    """Everything at one moment."""

    at: str
    log: LogView
    daemon: DaemonView
    sources: list[SourceView]
    processors: list[ProcessorView]
    processors_run: bool | None
    """Whether a process runs the processors now; null on Kafka, where they may run on any machine."""
    warnings: list[str] = []
    """What a person should look at though nothing is broken: a format that changes, files about to be deleted."""


class _LiveSource(Struct, rename="camel"):
    state: str
    last_error: str | None = None


class _Readiness(Struct):
    reasons: list[str] = []
    warnings: list[str] = []
    sources: dict[str, _LiveSource] = {}


def gather(settings: Settings, configured: Mapping[str, object]) -> Status:
    """Read the log and ask the daemon; `configured` names the sources of the settings. Raises `LogError`."""
    now = time.time()
    daemon, live, warnings = _daemon(settings)
    view, processors, found = read_log(settings)
    known = {source.source: source for source in found.sources}
    names = [*configured, *(name for name in known if name not in configured)]
    return Status(
        at=iso(now),
        log=view,
        daemon=daemon,
        sources=[_source(name, known.get(name), live.get(name), now) for name in names],
        processors=processors,
        processors_run=is_held(settings.state_dir / PROCESSORS_LOCK) if settings.engine == "embedded" else None,
        # Of a log that cannot be read now nobody knows what it has.
        warnings=warnings or ([] if view.problem else advice.told(settings, found, now)),
    )


def running(settings: Settings) -> Holder | None:
    """Who runs as the daemon of this state directory."""
    path = settings.state_dir / DAEMON_LOCK
    return holder(path) if is_held(path) else None


def _daemon(settings: Settings) -> tuple[DaemonView, dict[str, _LiveSource], list[str] | None]:
    """What runs, how its sources are, and its warnings: None when nobody was there to say."""
    by = running(settings)
    if by is None:
        return DaemonView(running=False), {}, None
    readiness = _ask(f"{by.url}/readyz") if by.url else None
    view = DaemonView(running=True, pid=by.pid, since=by.since, url=by.url)
    if readiness is None:
        return view, {}, None
    view.ready, view.reasons = not readiness.reasons, readiness.reasons
    return view, readiness.sources, readiness.warnings


def _ask(url: str) -> _Readiness | None:
    """What the daemon says of itself; None when it does not answer."""
    # Without the proxies of the environment: the address is on this machine.
    opener = build_opener(ProxyHandler({}))
    with suppress(OSError, msgspec.DecodeError):
        try:
            answer = opener.open(url, timeout=_ANSWER_SECONDS)
        except HTTPError as refusal:  # not ready is an answer, too
            answer = refusal
        with answer:
            return msgspec.json.decode(answer.read(_MAX_ANSWER_BYTES), type=_Readiness)
    return None


def _source(name: str, stored: SourceStatus | None, live: _LiveSource | None, now: float) -> SourceView:
    view = SourceView(name)
    if live is not None:
        view.state, view.last_error = live.state, live.last_error
    if stored is not None:
        view.last_event_iso = stored.last_event_iso
        if stored.last_event_iso:
            view.last_event_age_seconds = max(0.0, now - datetime.fromisoformat(stored.last_event_iso).timestamp())
        if stored.last_checkpoint_ms is not None:
            view.checkpoint_age_seconds = max(0.0, now - stored.last_checkpoint_ms / 1000)
        view.parts = stored.parts
        view.counts = dict(stored.counts)
    return view
