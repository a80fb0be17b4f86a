"""The daemon's settings: one TOML file, overridable by environment, right without either.

The file is `--config`, else `SESSION_INGEST_CONFIG`, else `config.toml` in the platform's configuration directory.
`SESSION_INGEST__HTTP__PORT=0` overrides `port` of `[http]`; a list may be JSON or separated by colons. Unknown keys are
refused. Every error is one line that names the file or variable, the key, and what is allowed.
"""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import platformdirs
from pydantic import AfterValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from ingest.logs import LogFormat, LogLevel
from ingest.places import APP, CONFIG_VARIABLE, PREFIX, TRIAGE_DB
from ingest.processors.summaries import IDLE_AFTER
from ingest.settings_errors import SettingsError, explain, unknown_variables
from ingest.settings_kafka import KafkaSettings
from ingest.settings_sources import SourceSettings
from ingest.settings_types import AbsolutePath, Duration, HostNames, Section

DEFAULT_PORT: Final = 8917
"""Unassigned at IANA, below the ephemeral range, and not the default of a common developer tool."""


class LogSettings(Section):
    """How the daemon's own log is written."""

    level: LogLevel = "info"
    format: LogFormat = "auto"


class HttpSettings(Section):
    """Where health, metrics and the sources' routes are answered; port 0 takes any free one."""

    enabled: bool = True
    host: Annotated[str, Field(min_length=1)] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = DEFAULT_PORT
    names: HostNames = []
    """Names under which a proxy or tunnel passes requests on: they reach the sources' routes, and nothing else."""


class RetentionSettings(Section):
    """How long the log keeps records; without `keep`, for ever."""

    keep: Duration | None = None


class ProcessorSettings(Section):
    """How the processors work."""

    idle_after: Duration = IDLE_AFTER
    store: Literal["rocksdb", "memory"] = "rocksdb"
    """Where workers on Kafka keep their copy of the state: on disk, or in some 250 bytes an event of memory."""


def _database_url(value: SecretStr) -> SecretStr:
    if not value.get_secret_value().startswith(("sqlite:", "postgresql:", "postgresql+psycopg:")):
        raise ValueError("a URL of SQLite or PostgreSQL, such as postgresql://user:password@host/name")
    return value


class TriageSettings(Section):
    """Where the triage keeps what it found and what was decided; without a URL a SQLite file in `state_dir`."""

    database_url: Annotated[SecretStr, AfterValidator(_database_url)] | None = None
    """As SQLAlchemy has them, such as `postgresql://user:password@host/name`; a secret, for it may hold a password."""
    workspace: AbsolutePath | None = None
    """Whose board conversations belong to that name no project, such as those of a chat assistant."""


class Settings(BaseSettings):
    """All settings of `session-ingest`."""

    model_config = SettingsConfigDict(
        extra="forbid", frozen=True, env_prefix=PREFIX, env_nested_delimiter="__", case_sensitive=False
    )

    state_dir: AbsolutePath = Field(default_factory=lambda: platformdirs.user_state_path(APP))
    engine: Literal["embedded", "kafka"] = "embedded"
    log: LogSettings = LogSettings()
    sources: SourceSettings = Field(default_factory=SourceSettings)
    http: HttpSettings = HttpSettings()
    retention: RetentionSettings = RetentionSettings()
    processors: ProcessorSettings = ProcessorSettings()
    kafka: KafkaSettings = KafkaSettings()
    triage: TriageSettings = TriageSettings()

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

    @property
    def triage_store(self) -> Path | str:
        """The triage's database: a SQLite file, or a URL, which is a secret."""
        url = self.triage.database_url
        return self.state_dir / TRIAGE_DB if url is None else url.get_secret_value()


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
