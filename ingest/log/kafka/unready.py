"""Brokers that answer and name no broker, not even themselves: to be asked again, like ones that are not there yet.

A node of KRaft that was held up (a paused machine, a long collection) answers so from when it runs again until it has
registered anew. aiokafka holds on to the connection over which it heard that, and goes on as if it knew somebody: a
lookup of a coordinator ends in an assertion, which ends the task of a producer or of a member of a group for good, and
a question about topics in an attribute of None. Source: aiokafka 0.14, `client.py`, `admin/client.py`.
"""

import asyncio
from typing import Any, Final

from aiokafka.client import AIOKafkaClient
from aiokafka.errors import KafkaConnectionError, NodeNotReadyError

from ingest.log.kafka.client import REQUEST_TIMEOUT_MS

KNOWN_SECONDS: Final = REQUEST_TIMEOUT_MS / 1000
"""A node registers within a second of being there again; one that takes longer is as good as away."""

_PAUSE_S: Final = 0.1


def look_up_patiently(client: AIOKafkaClient) -> None:
    """Have a client's lookups of coordinators say `NodeNotReadyError`, after which the library asks again.

    It stands for no known broker, and for a broker that dies while it answers: the library would give a producer up for
    that as a fault of its own, with a traceback.
    """
    lookup = client.coordinator_lookup

    async def patiently(*asked: Any) -> int:
        if client.get_random_node() is None:
            raise NodeNotReadyError("no broker says that it is ready")
        try:
            return int(await lookup(*asked))
        except KafkaConnectionError as error:
            raise NodeNotReadyError(str(error)) from error

    client.coordinator_lookup = patiently


async def know_brokers(client: AIOKafkaClient) -> None:
    """Wait until a client that was started knows whom to ask; raises `NodeNotReadyError` after `KNOWN_SECONDS`."""
    try:
        async with asyncio.timeout(KNOWN_SECONDS):
            while client.get_random_node() is None:
                await asyncio.sleep(_PAUSE_S)
                await client.force_metadata_update()
    except TimeoutError:
        raise NodeNotReadyError("no broker says that it is ready") from None
