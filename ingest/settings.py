"""The daemon's settings: one TOML file, overridable by environment, right without either.

The file is `--config`, else `SESSION_INGEST_CONFIG`, else `config.toml` in the platform's configuration directory.
`SESSION_INGEST__HTTP__PORT=0` overrides `port` of `[http]`; a list may be JSON or separated by colons. Unknown keys are
refused. Every error is one line that names the file or variable, the key, and what is allowed.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
import platformdirs
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_settings import BaseSettings, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

from ingest.logs import LogFormat, LogLevel
from ingest.processors.summaries import IDLE_AFTER
from ingest.settings_errors import SettingsError, explain, unknown_variables

APP: Final = "session-triage"
CONFIG_VARIABLE: Final = "SESSION_INGEST_CONFIG"
PREFIX: Final = "SESSION_INGEST__"

DEFAULT_PORT: Final = 8917
"""Unassigned at IANA, below the ephemeral range, and not the default of a common developer tool."""

_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def _duration(value: object) -> object:
    """Read `90s`, `30m`, `2h` or `7d`; a plain number is seconds."""
    if isinstance(value, str) and (match := re.fullmatch(r"([0-9]+)([smhd])", value.strip())):
        return timedelta(**{_UNITS[match[2]]: int(match[1])})
    return value if isinstance(value, timedelta) else _seconds(value)


def _seconds(value: object) -> timedelta:
    try:
        return timedelta(seconds=float(str(value)))
    except (ValueError, OverflowError):
        raise ValueError("a duration such as 30m, 2h or 7d") from None


def _positive(value: timedelta) -> timedelta:
    if value <= timedelta():
        raise ValueError("a duration above 0")
    return value


def _absolute(value: Path) -> Path:
    path = value.expanduser()
    if not path.is_absolute():
        raise ValueError("an absolute path, or one that begins with ~/")
    return path


def _path_list(value: object) -> object:
    """Split an environment variable; JSON lists are understood too."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        try:
            return msgspec.json.decode(value)
        except msgspec.DecodeError:
            raise ValueError('paths separated by colons, or a list such as ["/a", "/b"]') from None
    return [part for part in value.split(os.pathsep) if part]


def _backfill(value: object) -> object:
    if isinstance(value, date) or value in ("start", "now"):
        return value
    try:
        return date.fromisoformat(str(value))
    except ValueError:
        raise ValueError('"start", "now", or a date such as 2026-01-31') from None


Duration = Annotated[timedelta, BeforeValidator(_duration), AfterValidator(_positive)]
AbsolutePath = Annotated[Path, AfterValidator(_absolute)]
Backfill = Annotated[Literal["start", "now"] | date, BeforeValidator(_backfill)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LogSettings(_Section):
    """How the daemon's own log is written."""

    level: LogLevel = "info"
    format: LogFormat = "auto"


class SessionSettings(_Section):
    """Session files of a coding agent; `paths` empty means where the agent itself keeps them."""

    enabled: bool = True
    paths: Annotated[list[AbsolutePath], NoDecode, BeforeValidator(_path_list)] = []
    backfill: Backfill = "start"
    include_hidden: bool = False


class DropSettings(_Section):
    """The drop folder: what is put there is read once and moved to `done/` or `rejected/`."""

    enabled: bool = True
    path: AbsolutePath = Field(default_factory=lambda: Path.home() / "session-triage-drop")


class SourceSettings(_Section):
    """What the daemon reads."""

    pi: SessionSettings = SessionSettings()
    claude_code: SessionSettings = SessionSettings(enabled=False)
    codex: SessionSettings = SessionSettings(enabled=False)
    drop: DropSettings = Field(default_factory=DropSettings)


class HttpSettings(_Section):
    """Where health and metrics are answered; port 0 takes any free one."""

    enabled: bool = True
    host: Annotated[str, Field(min_length=1)] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = DEFAULT_PORT


class RetentionSettings(_Section):
    """How long the log keeps records; without `keep`, for ever."""

    keep: Duration | None = None


class ProcessorSettings(_Section):
    """How the processors work."""

    idle_after: Duration = IDLE_AFTER


class Settings(BaseSettings):
    """All settings of `session-ingest`."""

    model_config = SettingsConfigDict(
        extra="forbid", frozen=True, env_prefix=PREFIX, env_nested_delimiter="__", case_sensitive=False
    )

    state_dir: AbsolutePath = Field(default_factory=lambda: platformdirs.user_state_path(APP))
    log: LogSettings = LogSettings()
    sources: SourceSettings = Field(default_factory=SourceSettings)
    http: HttpSettings = HttpSettings()
    retention: RetentionSettings = RetentionSettings()
    processors: ProcessorSettings = ProcessorSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - pydantic-settings passes all of them by name
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Environment before file; the file's content comes as init arguments from `load`."""
        return env_settings, init_settings

    @property
    def log_path(self) -> Path:
        """The embedded log's file."""
        return self.state_dir / "log.db"


def config_path(given: Path | None, environment: Mapping[str, str] | None = None) -> tuple[Path, bool]:
    """Where the file is looked for, and whether somebody named it (then it must exist)."""
    environment = os.environ if environment is None else environment
    named = given or (Path(text) if (text := environment.get(CONFIG_VARIABLE)) else None)
    return (named.expanduser(), True) if named else (platformdirs.user_config_path(APP) / "config.toml", False)


def load(given: Path | None = None) -> Settings:
    """Read the settings of this process; raises `SettingsError` with a line for each mistake."""
    path, named = config_path(given)
    content = _read(path, named)
    if unknown := unknown_variables(Settings, PREFIX, os.environ):
        raise SettingsError(unknown)
    try:
        return Settings(**content)
    except ValidationError as error:
        raise SettingsError(explain(error, Settings, path, PREFIX, os.environ)) from None


def _read(path: Path, named: bool) -> dict[str, Any]:
    try:
        with path.open("rb") as stream:
            return tomllib.load(stream)
    except FileNotFoundError:
        if named:
            raise SettingsError([f"{path}: there is no such file"]) from None
        return {}
    except OSError as error:
        raise SettingsError([f"{path}: {error.strerror}"]) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError([f"{path}: no valid TOML: {error}"]) from None
