"""Provider and account keys: `provider` or `provider/account`, trimmed and lower-cased.

Source: `formats/session-triage-origin.md` 1.8. The key names where a conversation comes from, not which model answered.
"""

from typing import Final

UNKNOWN: Final = "unknown"


class InvalidKeyError(ValueError):
    """A provider/account key without a provider."""


def provider_name(raw: object) -> str:
    """Normalise a provider's name; what is no text, or empty, becomes `unknown`."""
    return (raw.strip().lower() or UNKNOWN) if isinstance(raw, str) else UNKNOWN


def account_name(raw: object) -> str | None:
    """Normalise an account; empty, the word `unknown` and what is no text mean that there is none."""
    name = raw.strip().lower() if isinstance(raw, str) else ""
    return None if name in {"", UNKNOWN} else name


def provider_account_key(provider: str, account: str | None) -> str:
    """Join normalised provider and account."""
    return f"{provider}/{account}" if account else provider


def parse_key(key: str) -> tuple[str, str | None]:
    """Split a key at its first slash (an account may contain slashes) into normalised provider and account.

    Raises `InvalidKeyError` when the provider is missing, as in `/x`.
    """
    provider, _, account = key.strip().partition("/")
    if not provider.strip():
        raise InvalidKeyError(f"no provider in key {key!r}; expected provider or provider/account")
    return provider_name(provider), account_name(account)


def thread_key(provider_key: str, thread_id: str) -> str:
    """Key of a topic's record: all of a thread's records share it, so they share a partition and keep their order."""
    return f"{provider_key}/{thread_id}"
