"""Which sources the settings name: an adapter each, by the source's configured name."""

from datetime import date, datetime, time
from typing import Final

import structlog

from adapters.catalogue import load
from adapters.contract import Adapter
from adapters.files.drop import drop_adapter
from adapters.files.tail import Backfill
from adapters.sessions import claude_code, codex, pi
from ingest.settings import SessionSettings, Settings

_log = structlog.get_logger(__name__)


# Each agent's configured name, where it keeps its sessions, and what follows them.
_AGENTS: Final = (
    ("pi", pi.default_roots, pi.pi_adapter),
    ("claude_code", claude_code.default_roots, claude_code.claude_code_adapter),
    ("codex", codex.default_roots, codex.codex_adapter),
)


def adapters_of(settings: Settings) -> list[Adapter]:
    """Make the adapters of all enabled sources; nothing is read yet."""
    adapters: list[Adapter] = []
    for name, default_roots, adapter in _AGENTS:
        agent: SessionSettings = getattr(settings.sources, name)
        if agent.enabled:
            roots, since = agent.paths or default_roots(), _since(agent.backfill)
            adapters.append(adapter(name, roots, backfill=since, include_hidden=agent.include_hidden))
    drop = settings.sources.drop
    if drop.enabled:
        catalogue = load()
        for problem in catalogue.problems:
            _log.warning("adapter-not-loaded", reason=problem)
        adapters.append(drop_adapter("drop", drop.path, catalogue.recognise))
    return adapters


def places_of(settings: Settings) -> dict[str, list[str]]:
    """Where each enabled source looks, for people."""
    places: dict[str, list[str]] = {}
    for name, default_roots, _ in _AGENTS:
        agent: SessionSettings = getattr(settings.sources, name)
        if agent.enabled:
            places[name] = [str(root) for root in agent.paths or default_roots()]
    drop = settings.sources.drop
    return {**places, "drop": [str(drop.path)]} if drop.enabled else places


def _since(backfill: str | date) -> Backfill:
    """A date means its beginning here, where the person who wrote it is."""
    if isinstance(backfill, date):
        return datetime.combine(backfill, time()).astimezone()
    return "now" if backfill == "now" else "start"
