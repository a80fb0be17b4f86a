"""Secrets of settings: given as a value or as a file, read when they are needed, never part of a message."""

from pathlib import Path
from typing import Final

from pydantic import SecretStr

MAX_SECRET_BYTES: Final = 64 * 1024
"""Tokens and passwords have some tens of bytes; a larger file is the wrong one."""


class SecretError(Exception):
    """A secret that cannot be had; the message says which setting or file, and nothing of what is in it."""


def secret(setting: str, value: SecretStr | None, file: Path | None) -> str:
    """The secret of a setting that may stand in a file of its own, `SETTING_file`; raises `SecretError`."""
    if value is not None and file is not None:
        raise SecretError(f"{setting} and {setting}_file are both set: which one counts?")
    if file is not None:
        return read_secret(file)
    if value is None or not value.get_secret_value():
        raise SecretError(f"{setting} is not set; set it, or {setting}_file")
    return value.get_secret_value()


def read_secret(path: Path) -> str:
    """The text of a file without the line break at its end; raises `SecretError`."""
    try:
        with path.open("rb") as stream:
            raw = stream.read(MAX_SECRET_BYTES + 1)
        text = raw.decode().rstrip("\r\n")
    except OSError as error:
        raise SecretError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SecretError(f"{path}: a secret is UTF-8 text") from None
    if len(raw) > MAX_SECRET_BYTES or not text or not text.isprintable():
        raise SecretError(f"{path}: a secret is one line of text, and nothing else")
    return text
