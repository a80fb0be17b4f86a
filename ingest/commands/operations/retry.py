"""`session-ingest rejected retry`: what processors could not use goes through them once more."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from msgspec import Struct, field
from rich.console import Console
from rich.text import Text

from ingest.commands.operations.places import place_text
from ingest.commands.operations.printable import visible_line
from ingest.commands.operations.rejected import rejection_named
from ingest.commands.process import open_existing_log, process_appended
from ingest.log.contract import EventLog, NewRecord, Topic
from ingest.log.walk import ends
from ingest.rejections import Choice, NotRetriedError, Rejection, Retry, rejections
from ingest.replay import append_all
from ingest.settings import Settings

MAX_NAMED: Final = 10
"""Rejections that are not tried again, named one by one; more are counted."""


@dataclass(frozen=True, slots=True)
class RetryRequest:
    """Which rejections are to be tried again: those at `places` (`OFFSET[:PARTITION]`), else all `choice` wants."""

    places: list[str]
    choice: Choice
    dry_run: bool


class Retried(Struct, rename="camel"):
    """What a retry came to; `processed` says whether the processors have worked it off by now."""

    dry_run: bool
    rejections: int = 0
    appended: int = 0
    not_retried: int = 0
    named: dict[str, str] = field(default_factory=dict)
    """Why some were not tried again, by place."""
    processed: bool = False
    rejected_since: int = 0
    """What was rejected while it was worked off: mostly what was rejected again."""


def retry_rejected(request: RetryRequest, settings: Settings, console: Console) -> Retried:
    """Append again what processors could not use, and tell people of it.

    Raises `ingest.export_selection.SelectionError` and `ingest.log.contract.LogError`.
    """
    result = Retried(request.dry_run)
    with open_existing_log(settings, read_only=request.dry_run) as log:
        made = _again(log, _chosen(log, request), result)
        if request.dry_run:
            result.appended = sum(1 for _ in made)
        else:
            before = _rejected(log)
            result.appended = append_all(log, made)
            if result.appended:
                result.processed = process_appended(log, settings, console, "what was appended")
            if result.processed:
                result.rejected_since = _rejected(log) - before
    _tell(result, console)
    return result


def _chosen(log: EventLog, request: RetryRequest) -> Iterable[Rejection]:
    if request.places:
        return [rejection_named(log, place) for place in request.places]
    return rejections(log, request.choice)


def _again(log: EventLog, chosen: Iterable[Rejection], result: Retried) -> Iterator[NewRecord]:
    retry, partitions = Retry(log), log.partitions(Topic.REJECTED)
    for rejection in chosen:
        result.rejections += 1
        try:
            yield from retry.records(rejection)
        except NotRetriedError as error:
            result.not_retried += 1
            if len(result.named) < MAX_NAMED:
                record = rejection.record
                place = place_text(record.partition, record.offset, partitions)
                result.named[place] = f"{rejection.bad.where}: {error}"


def _rejected(log: EventLog) -> int:
    return sum(ends(log, Topic.REJECTED).values())


def _tell(result: Retried, console: Console) -> None:
    for place, why in result.named.items():
        console.print(Text(f"{place}  {visible_line(why)}"), soft_wrap=True)
    done = "would be appended" if result.dry_run else "were appended"
    words = f"{result.rejections:,} rejections: {result.appended:,} records {done} again"
    if result.not_retried:
        words += f", {result.not_retried:,} cannot be tried again"
    if result.rejected_since:
        words += f"; {result.rejected_since:,} rejected since, see session-ingest rejected list"
    console.print(words, soft_wrap=True)
