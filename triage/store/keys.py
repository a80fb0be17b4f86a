"""Fixed-size keys for what has names of any length."""

import hashlib
from typing import Final

from schemas.keys import thread_key

_BYTES: Final = 16
"""128 bits: a chance of 1 in 10^20 that two of a billion threads share one."""


def thread_digest(provider_account_key: str, thread_id: str) -> bytes:
    """Give the key of a thread."""
    return key_digest(thread_key(provider_account_key, thread_id))


def key_digest(topic_key: str) -> bytes:
    """Give the key of the thread that a record of a topic belongs to."""
    return hashlib.blake2b(topic_key.encode("utf-8", "replace"), digest_size=_BYTES).digest()


def log_digest(where: str) -> str:
    """Give the key of a log."""
    return hashlib.blake2b(where.encode("utf-8", "replace"), digest_size=_BYTES).hexdigest()
