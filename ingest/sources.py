"""Which sources the settings name: an adapter each, by the source's configured name."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Final

import structlog

from adapters.catalogue import load
from adapters.contract import Adapter, PermanentSourceError, Routed
from adapters.files.drop import drop_adapter
from adapters.files.tail import Backfill
from adapters.sessions import claude_code, codex, pi
from ingest.secrets import SecretError, secret
from ingest.settings import Settings
from ingest.settings_sources import (
    CustomSettings,
    DropSettings,
    MatrixSettings,
    SessionSettings,
    SignalSettings,
    TelegramSettings,
    WhatsAppSettings,
)

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import SecretStr
    from starlette.routing import BaseRoute

_log = structlog.get_logger(__name__)


# Each agent's configured name, where it keeps its sessions, and what follows them.
_AGENTS: Final = (
    ("pi", pi.default_roots, pi.pi_adapter),
    ("claude_code", claude_code.default_roots, claude_code.claude_code_adapter),
    ("codex", codex.default_roots, codex.codex_adapter),
)


@dataclass(frozen=True, slots=True)
class ConfiguredSource:
    """A source as the settings name it; `places` say for people where it looks, `make` reads nothing yet."""

    name: str
    enabled: bool
    places: Sequence[str]
    make: Callable[[], Adapter]


def sources_of(settings: Settings) -> Iterator[ConfiguredSource]:
    """Give every source of the settings, those that are switched off too, in their usual order."""
    for name, default_roots, adapter in _AGENTS:
        agent: SessionSettings = getattr(settings.sources, name)
        roots = agent.paths or default_roots()
        yield ConfiguredSource(name, agent.enabled, [str(root) for root in roots], _agent(adapter, name, roots, agent))
    drop = settings.sources.drop
    yield ConfiguredSource("drop", drop.enabled, [str(drop.path)], lambda: _drop(drop))
    for name, custom in settings.sources.custom.items():
        yield _custom(f"custom.{name}", custom)
    for name, telegram in settings.sources.telegram.items():
        yield _telegram(name, telegram)
    for name, matrix in settings.sources.matrix.items():
        yield _matrix(name, matrix, settings.state_dir / "matrix" / name)
    for name, account in settings.sources.signal.items():
        yield _signal(name, account, settings.state_dir / "signal" / f"{name}.journal")
    for name, whatsapp in settings.sources.whatsapp.items():
        yield _whatsapp(name, whatsapp)


def adapters_of(settings: Settings) -> list[Adapter]:
    """Make the adapters of all enabled sources; nothing is read yet."""
    return [source.make() for source in sources_of(settings) if source.enabled]


def places_of(settings: Settings) -> dict[str, list[str]]:
    """Where each enabled source looks, for people."""
    return {source.name: list(source.places) for source in sources_of(settings) if source.enabled}


def routes_of(adapters: Sequence[Adapter]) -> "list[BaseRoute]":
    """What the daemon's HTTP server answers for its sources."""
    from adapters.chat.custom import CustomAdapter, events_route  # noqa: PLC0415 - no command but `run` needs HTTP

    doors = [adapter for adapter in adapters if isinstance(adapter, CustomAdapter)]
    routes = [route for adapter in adapters if isinstance(adapter, Routed) for route in adapter.routes()]
    return [*routes, events_route(doors)] if doors else routes


def credential(setting: str, value: "SecretStr | None", file: "Path | None") -> Callable[[], str]:
    """A source's secret, looked up each time it starts; what is missing needs a person."""

    def look_up() -> str:
        try:
            return secret(setting, value, file)
        except SecretError as error:
            raise PermanentSourceError(str(error)) from None

    return look_up


def _agent(
    adapter: Callable[..., Adapter], name: str, roots: "Sequence[Path]", agent: SessionSettings
) -> Callable[[], Adapter]:
    return lambda: adapter(name, roots, backfill=_since(agent.backfill), include_hidden=agent.include_hidden)


def _drop(drop: DropSettings) -> Adapter:
    catalogue = load()
    for problem in catalogue.problems:
        _log.warning("adapter-not-loaded", reason=problem)
    return drop_adapter("drop", drop.path, catalogue.recognise)


def _custom(name: str, settings: CustomSettings) -> ConfiguredSource:
    def make() -> Adapter:
        from adapters.chat.custom import CustomAdapter  # noqa: PLC0415 - most installations have none

        token = credential(f"sources.{name}.token", settings.token, settings.token_file)
        return CustomAdapter(name, token, account=settings.account)

    return ConfiguredSource(name, settings.enabled, ["POST /v1/events"], make)


def _telegram(short: str, settings: TelegramSettings) -> ConfiguredSource:
    name = f"telegram.{short}"

    def make() -> Adapter:
        token = credential(f"sources.{name}.token", settings.token, settings.token_file)
        secret = credential(f"sources.{name}.secret", settings.secret, settings.secret_file)
        account, operators = settings.account or short, frozenset(settings.operators)
        if settings.mode == "polling":
            from adapters.chat.telegram import TelegramSource  # noqa: PLC0415 - most installations have none

            return TelegramSource(name, account, token, operators, settings.api_url)
        from adapters.chat.telegram_webhook import TelegramWebhook  # noqa: PLC0415

        return TelegramWebhook(name, account, token, secret, operators, settings.api_url)

    place = settings.api_url if settings.mode == "polling" else f"POST /v1/telegram/{short}"
    return ConfiguredSource(name, settings.enabled, [place], make)


def _matrix(short: str, settings: MatrixSettings, folder: "Path") -> ConfiguredSource:
    name = f"matrix.{short}"

    def make() -> Adapter:
        from adapters.chat.matrix import MatrixSource  # noqa: PLC0415 - most installations have none

        token = credential(f"sources.{name}.token", settings.token, settings.token_file)
        password = credential(f"sources.{name}.password", settings.password, settings.password_file)
        logs_in = bool(settings.password or settings.password_file) and not (settings.token or settings.token_file)
        return MatrixSource(
            name,
            settings.account or short,
            settings.homeserver,
            settings.user,
            None if logs_in else token,
            frozenset(settings.operators),
            frozenset(settings.bots),
            settings.backfill,
            settings.join,
            password if logs_in else None,
            folder,
            settings.encryption,
        )

    return ConfiguredSource(name, settings.enabled, [settings.homeserver], make)


def _whatsapp(short: str, settings: WhatsAppSettings) -> ConfiguredSource:
    name = f"whatsapp.{short}"

    def make() -> Adapter:
        from adapters.chat.whatsapp import WhatsAppWebhook  # noqa: PLC0415 - most installations have none

        verify = credential(f"sources.{name}.verify_token", settings.verify_token, settings.verify_token_file)
        app = credential(f"sources.{name}.app_secret", settings.app_secret, settings.app_secret_file)
        return WhatsAppWebhook(name, verify, app)

    return ConfiguredSource(name, settings.enabled, [f"POST /v1/whatsapp/{short}"], make)


def _signal(short: str, settings: SignalSettings, journal: "Path") -> ConfiguredSource:
    name = f"signal.{short}"

    def make() -> Adapter:
        from adapters.chat.signal import SignalSource  # noqa: PLC0415 - most installations have none
        from adapters.chat.signal_address import Address  # noqa: PLC0415

        return SignalSource(name, settings.account, Address.of(settings.address), journal)

    return ConfiguredSource(name, settings.enabled, [settings.address], make)


def _since(backfill: str | date) -> Backfill:
    """A date means its beginning here, where the person who wrote it is."""
    if isinstance(backfill, date):
        return datetime.combine(backfill, time()).astimezone()
    return "now" if backfill == "now" else "start"
