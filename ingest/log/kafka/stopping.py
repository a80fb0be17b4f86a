"""Stopping aiokafka's clients in a bounded time: `stop()` of a producer does not return while brokers are away."""

import asyncio
import logging
from typing import Any, Final

from aiokafka.errors import KafkaError

from ingest.log.kafka.leftovers import look_at

STOP_SECONDS: Final = 3.0
"""A client that is connected stops in milliseconds. What is left behind ends by itself: every request of a producer
that was replaced is refused once brokers are back, since its epoch is over."""

_logger = logging.getLogger(__name__)


async def stop(client: Any) -> None:
    """Stop a producer or consumer, or close an admin client, whatever state it is in; never raises, never hangs."""
    end = client.stop if hasattr(client, "stop") else client.close
    # A task of its own: `wait_for` would wait for a cancelled `stop` that does not end either.
    stopping = asyncio.ensure_future(end())
    done, _ = await asyncio.wait({stopping}, timeout=STOP_SECONDS)
    if not done:
        look_at(stopping)
        stopping.cancel()
        _logger.warning("kafka-client-left-behind", extra={"client": type(client).__name__})
        return
    error = stopping.exception() if not stopping.cancelled() else None
    if error is not None and not isinstance(error, KafkaError | OSError):
        raise error
