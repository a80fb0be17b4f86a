"""Kafka's errors in words that a person can act on."""

import ssl
from collections.abc import Iterator
from typing import Final

from aiokafka import errors

from ingest.log.contract import FencedError, LogBusyError, LogError, LogFullError
from ingest.settings_kafka import KafkaSettings


class AwayError(LogError):
    """No broker answers; it goes on as soon as one does."""


class TokenError(errors.KafkaError):  # type: ignore[misc]  # the library has no types
    """There is no token to show to brokers; the library takes any other kind of error for a fault of its own."""


_RULES: Final[tuple[tuple[tuple[type[BaseException], ...], type[LogError], str], ...]] = (
    ((errors.ProducerFenced,), FencedError, "{doing}: a newer copy has taken over; this one must stop"),
    (
        (
            errors.AuthenticationFailedError,
            errors.SaslAuthenticationFailed,
            errors.UnsupportedSaslMechanismError,
            errors.IllegalSaslStateError,
        ),
        LogError,
        "{where} refuses this user ({words}); check sasl_mechanism, and username and password, or the token",
    ),
    (
        (ssl.SSLCertVerificationError,),
        LogError,
        "{where} cannot be trusted ({words}); check kafka.ca_file, and that brokers are named as in their certificates",
    ),
    (
        (ssl.SSLError,),
        LogError,
        "TLS with {where} fails ({words}); check kafka.security_protocol, kafka.cert_file and kafka.key_file",
    ),
    (
        (
            errors.TopicAuthorizationFailedError,
            errors.GroupAuthorizationFailedError,
            errors.TransactionalIdAuthorizationFailed,
            errors.ClusterAuthorizationFailedError,
        ),
        LogError,
        "{where} does not allow {doing} ({words}); give this user the right to it",
    ),
    (
        (errors.NotEnoughReplicasError, errors.NotEnoughReplicasAfterAppendError),
        LogError,
        "{where}, {doing}: too few brokers have a copy of the partition; bring the others back",
    ),
    (
        (errors.UnknownTopicOrPartitionError,),
        LogError,
        "{where}, {doing}: a topic is not there; `session-ingest topics --create` makes it",
    ),
    (
        (errors.KafkaStorageError,),
        LogFullError,
        "{where}, {doing}: a broker cannot write to its disk; free space there",
    ),
    (
        (errors.ConcurrentTransactions,),
        LogBusyError,
        "{where}, {doing}: another transaction is being finished for too long",
    ),
    (
        # Kafka calls it COORDINATOR_LOAD_IN_PROGRESS: also transactions have coordinators.
        (errors.GroupLoadInProgressError,),
        LogBusyError,
        "{where}, {doing}: a broker has been reading its own log for too long",
    ),
    (
        (
            errors.KafkaConnectionError,
            errors.NodeNotReadyError,
            errors.RequestTimedOutError,
            errors.KafkaTimeoutError,
            errors.KafkaUnavailableError,
            errors.NoBrokersAvailable,
            errors.LeaderNotAvailableError,
            errors.NotLeaderForPartitionError,
            errors.GroupCoordinatorNotAvailableError,
            errors.NotCoordinatorForGroupError,
            TimeoutError,
            OSError,
        ),
        AwayError,
        "no broker answers: {where}, {doing} ({words}); it goes on as soon as one does",
    ),
)
"""What an error is for a caller, and its words; the first line that fits it or one of its causes."""

_OTHERWISE: Final = "{where}, {doing}: {words}"


def where(settings: KafkaSettings) -> str:
    """The brokers in words."""
    return "Kafka at " + ", ".join(settings.bootstrap_servers)


def missing_topic(settings: KafkaSettings, name: str) -> LogError:
    """The error for a topic that is not there."""
    return LogError(f"{where(settings)} has no topic {name}; `session-ingest topics --create` makes what is missing")


def explain(error: BaseException, settings: KafkaSettings, doing: str) -> LogError:
    """The `LogError` for what went wrong while `doing` something, such as "appending"; the cause is kept."""
    explained = _explained(error, settings, doing)
    if explained is not error:
        explained.__cause__ = error
    return explained


def _explained(error: BaseException, settings: KafkaSettings, doing: str) -> LogError:
    if isinstance(error, LogError):
        return error
    # The library wraps errors of its background work in a plain one: what caused it tells more.
    chain = [error, *_causes(error)]
    found = ((kind, text, each) for kinds, kind, text in _RULES for each in chain if isinstance(each, kinds))
    kind, text, each = next(found, (LogError, _OTHERWISE, error))
    return kind(text.format(where=where(settings), doing=doing, words=_words(each)))


def _causes(error: BaseException) -> Iterator[BaseException]:
    while (cause := error.__cause__) is not None:
        yield cause
        error = cause


def _words(error: BaseException) -> str:
    name = type(error).__name__
    text = str(error).removeprefix(f"{name}: ")
    return f"{name}: {text}" if text and text != name else name
