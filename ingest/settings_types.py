"""Kinds of settings that sections share, each with the words that a wrong value is answered with."""

import os
import re
from datetime import date, timedelta
from pathlib import Path
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

import msgspec
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict
from pydantic_settings import NoDecode

_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_HOST_NAME: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")


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


def path_list(value: object) -> object:
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


def comma_list(value: object, words: str) -> list[str]:
    """Give a list of texts, from an environment variable split at commas; JSON lists are understood too.

    Raises `ValueError` with `words` for what is none.
    """
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = msgspec.json.decode(value)
        except msgspec.DecodeError:
            value = None
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise ValueError(words)
    return parts


def web_address(value: str, words: str) -> str:
    """Give an address of http or https without secrets or a query; raises `ValueError` with `words`."""
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.username or parts.password:
        raise ValueError(words)
    return value


def _host_names(value: object) -> object:
    words = 'host names without a port, such as ["hooks.example.org"]'
    names = comma_list(value, words)  # host names have no commas
    if not all(_HOST_NAME.fullmatch(name) for name in names):
        raise ValueError(words)
    return [name.lower() for name in names]


Duration = Annotated[timedelta, BeforeValidator(_duration), AfterValidator(_positive)]
AbsolutePath = Annotated[Path, AfterValidator(_absolute)]
Backfill = Annotated[Literal["start", "now"] | date, BeforeValidator(_backfill)]
HostNames = Annotated[list[str], NoDecode, BeforeValidator(_host_names)]


class Section(BaseModel):
    """A table of the settings file: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)
