"""Settings of Apache Kafka: which brokers, how to reach them, and how the topics are laid out.

Secrets are `SecretStr`: they appear in no log, no message and no `repr`. Each can come from a file of its own, which is
read again at every new connection, so that a rotated one needs no restart.
"""

import re
from contextlib import suppress
from typing import Annotated, Final, Literal

import msgspec
from pydantic import AfterValidator, BeforeValidator, Field, SecretStr
from pydantic_settings import NoDecode

from ingest.settings_types import AbsolutePath, Section

DEFAULT_PARTITIONS: Final = 8
"""As many workers can share the load of a topic; Kafka cannot change it later without moving keys."""

MAX_PARTITIONS: Final = 1000
"""More is a slip: each costs file handles on every broker, and a worker has a producer for each of its own."""

CLIENT_KEYS: Final = {
    "client_id": str,
    "request_timeout_ms": int,
    "retry_backoff_ms": int,
    "metadata_max_age_ms": int,
    "connections_max_idle_ms": int,
}
"""What may be passed through to aiokafka, and its type; everything else is decided by this project."""

_TOPIC: Final = re.compile(r"[A-Za-z0-9._-]{0,100}")
"""The characters of topic names, and room for the rest of a name under Kafka's 249. Source: Kafka, `Topic.java`."""

_SERVER: Final = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[^\s:\[\]\x00-\x1f]+):[0-9]{1,5}")


def _servers(value: object) -> object:
    """Split an environment variable at commas, as Kafka's own clients do; JSON lists are understood too."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(msgspec.DecodeError):  # `[::1]:9092` begins so, too; what is neither is refused below
            value = msgspec.json.decode(value)
    servers = value.split(",") if isinstance(value, str) else value
    if not isinstance(servers, list) or not servers or not all(_is_server(server) for server in servers):
        raise ValueError('brokers as "host:port", separated by commas or as a list')
    return [server.strip() for server in servers]


def _is_server(server: object) -> bool:
    return isinstance(server, str) and _SERVER.fullmatch(server.strip()) is not None


def _prefix(value: str) -> str:
    if not _TOPIC.fullmatch(value):
        raise ValueError("at most 100 letters, digits, dots, dashes and underscores")
    return value


def _secret(value: SecretStr) -> SecretStr:
    if not value.get_secret_value().isprintable():
        raise ValueError("a text without control characters")
    return value


def _printable(value: str) -> str:
    if not value or not value.isprintable():
        raise ValueError("a text without control characters")
    return value


def _client(value: object) -> object:
    """A table, or JSON from the environment; keys and types are checked here, so that the message can name them."""
    allowed = ", ".join(f"{name} ({kind.__name__})" for name, kind in CLIENT_KEYS.items())
    if isinstance(value, str):
        try:
            value = msgspec.json.decode(value)
        except msgspec.DecodeError:
            value = None
    if not isinstance(value, dict) or any(type(item) is not CLIENT_KEYS.get(key) for key, item in value.items()):
        raise ValueError(f"a table of {allowed}")
    return value


class KafkaSettings(Section):
    """The brokers, and the topics on them; used with `engine = "kafka"`."""

    bootstrap_servers: Annotated[list[str], NoDecode, BeforeValidator(_servers)] = ["localhost:9092"]
    topic_prefix: Annotated[str, AfterValidator(_prefix)] = ""
    """Before the names of topics, groups and transactions: several installations can share a cluster."""
    partitions: Annotated[int, Field(ge=1, le=MAX_PARTITIONS)] = DEFAULT_PARTITIONS
    replication: Annotated[int, Field(ge=0, le=100)] = 0
    """Copies of each partition; 0 leaves it to the brokers' `default.replication.factor`."""
    compression: Literal["none", "gzip", "snappy", "lz4", "zstd"] = "zstd"
    """Measured through aiokafka on plain words: zstd 235 MB/s at a fifth of the size, snappy 526 at a third, lz4 8 and
    gzip 3, both at their highest level, which it leaves no choice of."""
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"] = "PLAIN"
    username: Annotated[str, AfterValidator(_printable)] | None = None
    password: Annotated[SecretStr, AfterValidator(_secret)] | None = None
    password_file: AbsolutePath | None = None
    oauth_token_file: AbsolutePath | None = None
    ca_file: AbsolutePath | None = None
    """Certificates that brokers are trusted by; without it those of the system."""
    cert_file: AbsolutePath | None = None
    key_file: AbsolutePath | None = None
    key_password: Annotated[SecretStr, AfterValidator(_secret)] | None = None
    client: Annotated[dict[str, int | str], NoDecode, BeforeValidator(_client)] = {}
