"""Opens the log that the settings name: a file on this machine, or topics on Apache Kafka."""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from ingest.log.contract import EventLog, LogError
from ingest.log.embedded import EmbeddedLog

if TYPE_CHECKING:
    from ingest.log.kafka.log import KafkaLog
    from ingest.settings import Settings  # a report that names its log does without pydantic

_NEEDED: Final = "aiokafka"


def open_log(settings: "Settings", *, read_only: bool = False) -> EventLog:
    """Open the log; raises `LogError`.

    On Kafka nothing connects before it is needed: whoever opens the log while brokers are away gets the error from the
    first call that wants them, and can go on with the same log once they are back.
    """
    if settings.engine == "kafka":
        return open_kafka_log(settings, read_only=read_only)
    return EmbeddedLog.open(settings.log_path, read_only=read_only)


def open_kafka_log(settings: "Settings", *, read_only: bool = False) -> "KafkaLog":
    """Open the log on Kafka, whatever engine the settings name; raises `LogError` where the extra is not installed."""
    require_kafka()
    from ingest.log.kafka.log import KafkaLog  # noqa: PLC0415 - the client takes time to import, and is an extra

    return KafkaLog.open(settings.kafka, read_only=read_only)


def require_kafka() -> None:
    """Raise `LogError` where the packages for Kafka are not installed."""
    if find_spec(_NEEDED) is None:
        raise LogError("Kafka needs further packages: pip install 'session-triage[kafka]'")


def place_of_log(settings: "Settings") -> str:
    """Where the settings have the log, in words for people; opens nothing."""
    if settings.engine == "kafka":
        prefix = settings.kafka.topic_prefix
        topics = f", topics {prefix}*" if prefix else ""
        return f"Kafka at {', '.join(settings.kafka.bootstrap_servers)}{topics}"
    return str(settings.log_path)
