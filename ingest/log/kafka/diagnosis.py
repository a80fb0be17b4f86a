"""Why no broker answers, where it is not that none is there: a wrong password, or a certificate nobody vouches for.

aiokafka tells such things in its log alone, and says to its caller that it could not connect. So one connection is made
here as it makes its own, whose error is the reason. Only encrypted or authenticated connections have such reasons.
"""

import asyncio
from typing import Any, Final

from aiokafka.conn import collect_hosts, create_conn
from aiokafka.errors import SaslAuthenticationFailed
from aiokafka.protocol.metadata import MetadataRequest

from ingest.log.contract import LogError
from ingest.log.kafka.client import client_arguments
from ingest.log.kafka.errors import AwayError, explain
from ingest.settings_kafka import KafkaSettings

SECONDS: Final = 5.0
"""For one broker to refuse; it takes milliseconds, and whoever waits has been told that none answers already."""

_OF_CONNECTIONS: Final = ("client_id", "request_timeout_ms", "security_protocol", "ssl_context")
"""Arguments of a client that each of its connections has, beside those of SASL."""


async def diagnose(error: BaseException, settings: KafkaSettings, doing: str) -> LogError:
    """Give what `explain` gives, or the reason why brokers refuse the connection, if that is what happened."""
    explained = explain(error, settings, doing)
    if settings.security_protocol == "PLAINTEXT" or not isinstance(explained, AwayError):
        return explained
    for host, port, _ in collect_hosts(settings.bootstrap_servers):
        refusal = await _refusal(settings, host, port)
        reason = explain(refusal, settings, doing) if refusal is not None else explained
        if not isinstance(reason, AwayError):
            return reason
    return explained


async def _refusal(settings: KafkaSettings, host: str, port: int) -> Exception | None:
    """Connect as a client would, and ask something; gives what went wrong."""
    try:
        await asyncio.wait_for(_ask(host, port, _connecting(client_arguments(settings))), SECONDS)
    except Exception as error:  # noqa: BLE001 - whatever it is: that is the answer
        return error
    return None


async def _ask(host: str, port: int, arguments: dict[str, Any]) -> None:
    connection = await create_conn(host, port, **arguments)
    try:
        brokers = (await connection.send(MetadataRequest([]))).brokers
    finally:
        connection.close()
    # The library takes an OAuth login for done although brokers refuse the token with their answer (RFC 7628, 3.2.2).
    # What comes after it is then no answer to what was asked. Without OAuth it is that of a node that is not ready yet.
    if not brokers and arguments.get("sasl_mechanism") == "OAUTHBEARER":
        raise SaslAuthenticationFailed("what it answers after the login is no answer")


def _connecting(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name in _OF_CONNECTIONS or name.startswith("sasl_")}
