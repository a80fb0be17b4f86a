"""Clients for questions about topics."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiokafka.admin import AIOKafkaAdminClient

from ingest.log.kafka.client import client_arguments
from ingest.log.kafka.stopping import stop
from ingest.log.kafka.unready import know_brokers
from ingest.settings_kafka import KafkaSettings


@asynccontextmanager
async def admin_client(settings: KafkaSettings) -> AsyncIterator[AIOKafkaAdminClient]:
    """A client for questions about topics, which knows whom to ask; they are few, so each has a connection of its own.

    Raises `KafkaError` where no broker is there, or none says in time that it is ready.
    """
    admin = AIOKafkaAdminClient(**client_arguments(settings))
    try:
        await admin.start()
        await know_brokers(admin._client)  # noqa: SLF001 - it has no other name for it
        yield admin
    finally:
        await stop(admin)
