"""`session-ingest topics`: how the topics on Kafka are, what is missing, and what differs from what must be."""

import asyncio
import sys
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct
from rich.console import Console
from rich.text import Text

from ingest.log.contract import LogError
from ingest.log.open import require_kafka
from ingest.settings import Settings

if TYPE_CHECKING:
    from ingest.settings_kafka import KafkaSettings

SECONDS: Final = 60.0
"""For everything: topics are made within a second each."""


class TopicView(Struct, rename="camel"):
    """One topic: as it must be, and what is wrong with it; `created` says whether it was made just now."""

    name: str
    partitions: int
    replication: int | None
    configs: dict[str, str]
    problems: list[str]
    created: bool = False


def show_topics(settings: Settings, console: Console, *, create: bool, as_json: bool) -> int:
    """Look at the topics, make those that are missing if asked to, and print them; gives the exit status.

    0 when all are as they must be, 1 otherwise. Raises `LogError` when the brokers do not answer or refuse.
    """
    require_kafka()
    views = _look(settings.kafka, create=create)
    if as_json:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(views), indent=2).decode() + "\n")
    else:
        for view in views:
            _render(view, console)
    if settings.engine != "kafka":
        console.print("Settings still have engine = \"embedded\": the log is not on Kafka until they say 'kafka'.")
    return 1 if any(view.problems for view in views) else 0


def _look(settings: "KafkaSettings", *, create: bool) -> list[TopicView]:
    return asyncio.run(_asked(settings, create=create))


async def _asked(settings: "KafkaSettings", *, create: bool) -> list[TopicView]:
    from ingest.log.kafka.diagnosis import diagnose  # noqa: PLC0415 - an extra, asked for above

    try:
        return await asyncio.wait_for(_survey(settings, create=create), SECONDS)
    except LogError:
        raise
    except Exception as error:  # the library's own kinds are many
        raise await diagnose(error, settings, "looking at the topics") from error


async def _survey(settings: "KafkaSettings", *, create: bool) -> list[TopicView]:
    from ingest.log.kafka.admin import admin_client  # noqa: PLC0415 - likewise
    from ingest.log.kafka.topics import specification  # noqa: PLC0415
    from ingest.log.kafka.verify import create as create_topics  # noqa: PLC0415
    from ingest.log.kafka.verify import describe, survey  # noqa: PLC0415

    async with admin_client(settings) as admin:
        there = await describe(admin)
        missing = [spec for spec in specification(settings) if spec.name not in there]
        if create:
            await create_topics(admin, missing)
        made = {spec.name for spec in missing} if create else set()
        return [
            TopicView(
                spec.name, spec.partitions, spec.replication, dict(spec.configs), problems, created=spec.name in made
            )
            for spec, problems in await survey(admin, settings)
        ]


def _render(view: TopicView, console: Console) -> None:
    state = "created" if view.created else "as it must be"
    console.print(Text(f"{view.name}: {'; '.join(view.problems) or state}"), soft_wrap=True)
