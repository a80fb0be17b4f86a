"""From settings to the arguments of aiokafka's clients: the one place that knows both.

Secrets are read here and nowhere else, at the moment a client is made. Raises `LogError` for settings that contradict
each other, and for files that cannot be read.
"""

import asyncio
import ssl
from pathlib import Path
from typing import Any, Final

from aiokafka import codec
from aiokafka.abc import AbstractTokenProvider
from aiokafka.helpers import create_ssl_context

from ingest import secrets
from ingest.log.contract import LogError
from ingest.log.kafka.errors import TokenError
from ingest.settings_kafka import KafkaSettings

REQUEST_TIMEOUT_MS: Final = 10_000
"""A broker answers in milliseconds; one that takes ten seconds is away, and waiting longer only hides it."""

TRANSACTION_TIMEOUT_MS: Final = 15_000
"""After this long the broker aborts what a writer that died has begun. Until then nobody reads past it: Kafka's default
of a minute would hold up every reader that long. An honest append takes well under a second."""

BATCH_BYTES: Final = 512 * 1024
"""Uncompressed bytes of one batch: 16 KiB, the library's default, costs half the throughput (measured), and a batch
must stay under what a topic takes in one message."""

FETCH_BYTES: Final = 4 * 1024 * 1024
"""What one fetch asks of a partition: as much is held in memory for each partition that is read."""

FETCH_WAIT_MS: Final = 250
"""How long a broker holds a fetch at the end of a partition open."""


_CODECS: Final = {
    "none": lambda: True,
    "gzip": codec.has_gzip,
    "snappy": codec.has_snappy,
    "lz4": codec.has_lz4,
    "zstd": codec.has_zstd,
}


def client_arguments(settings: KafkaSettings) -> dict[str, Any]:
    """What producers, consumers and admin clients of aiokafka have in common."""
    arguments: dict[str, Any] = {
        "bootstrap_servers": list(settings.bootstrap_servers),
        "client_id": "session-triage",
        "request_timeout_ms": REQUEST_TIMEOUT_MS,
        "security_protocol": settings.security_protocol,
    }
    if settings.security_protocol.endswith("SSL"):
        arguments["ssl_context"] = _ssl_context(settings)
    if settings.security_protocol.startswith("SASL_"):
        arguments |= _sasl(settings)
    return arguments | settings.client


def producer_arguments(
    settings: KafkaSettings, transactional_id: str, batch_bytes: int = BATCH_BYTES
) -> dict[str, Any]:
    """What a transactional producer is made with; `batch_bytes` must be less than what its topics take at once.

    Raises `LogError` for a compression whose package is not installed.
    """
    if not _CODECS[settings.compression]():
        raise LogError(f"kafka.compression {settings.compression} needs cramjam: pip install 'session-triage[kafka]'")
    return {
        **client_arguments(settings),
        "transactional_id": transactional_id,
        "transaction_timeout_ms": TRANSACTION_TIMEOUT_MS,
        "max_batch_size": batch_bytes,
        "compression_type": None if settings.compression == "none" else settings.compression,
    }


def consumer_arguments(settings: KafkaSettings) -> dict[str, Any]:
    """What a reader is made with: it sees committed records alone, and commits no offsets itself."""
    return {
        **client_arguments(settings),
        "isolation_level": "read_committed",
        "auto_offset_reset": "earliest",
        "enable_auto_commit": False,
        "max_partition_fetch_bytes": FETCH_BYTES,
        "fetch_max_wait_ms": FETCH_WAIT_MS,
    }


def _ssl_context(settings: KafkaSettings) -> ssl.SSLContext:
    if (settings.cert_file is None) != (settings.key_file is None):
        raise LogError("kafka.cert_file and kafka.key_file belong together: set both or neither")
    password = settings.key_password.get_secret_value() if settings.key_password else None
    try:
        context: ssl.SSLContext = create_ssl_context(
            cafile=settings.ca_file, certfile=settings.cert_file, keyfile=settings.key_file, password=password
        )
    except (OSError, ssl.SSLError) as error:
        files = ", ".join(str(file) for file in (settings.ca_file, settings.cert_file, settings.key_file) if file)
        raise LogError(f"TLS to Kafka: {files or 'the certificates of the system'} cannot be used: {error}") from None
    return context


def _sasl(settings: KafkaSettings) -> dict[str, Any]:
    if settings.sasl_mechanism == "OAUTHBEARER":
        if settings.oauth_token_file is None:
            raise LogError("kafka.sasl_mechanism OAUTHBEARER needs kafka.oauth_token_file")
        return {"sasl_mechanism": "OAUTHBEARER", "sasl_oauth_token_provider": TokenFile(settings.oauth_token_file)}
    password = _password(settings)
    if settings.username is None or password is None:
        raise LogError(
            f"kafka.sasl_mechanism {settings.sasl_mechanism} needs kafka.username, and kafka.password or"
            " kafka.password_file"
        )
    return {
        "sasl_mechanism": settings.sasl_mechanism,
        "sasl_plain_username": settings.username,
        "sasl_plain_password": password,
    }


def _password(settings: KafkaSettings) -> str | None:
    if settings.password is not None and settings.password_file is not None:
        raise LogError("kafka.password and kafka.password_file are both set: which one counts?")
    if settings.password_file is not None:
        return read_secret(settings.password_file)
    return settings.password.get_secret_value() if settings.password is not None else None


def read_secret(path: Path) -> str:
    """The secret in a file; raises `LogError`, which never holds the content."""
    try:
        return secrets.read_secret(path)
    except secrets.SecretError as error:
        raise LogError(str(error)) from None


class TokenFile(AbstractTokenProvider):  # type: ignore[misc]  # the library has no types
    """An OAuth token that somebody else keeps fresh in a file, as Kubernetes and most agents do."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def token(self) -> str:
        """The token as it stands now; raises `TokenError`."""
        try:
            return await asyncio.to_thread(read_secret, self._path)
        except LogError as error:
            raise TokenError(str(error)) from None
