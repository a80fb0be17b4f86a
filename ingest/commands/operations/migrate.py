"""`session-ingest migrate`: an embedded log moves to Kafka, for who outgrows one machine."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from ingest.locks import DAEMON_LOCK, PROCESSORS_LOCK, holder, try_lock
from ingest.log.contract import LogError, LogStatus
from ingest.log.embedded import EmbeddedLog
from ingest.log.open import place_of_log, require_kafka
from ingest.processors.chain import processors
from ingest.settings import Settings
from ingest.streams.embedded import EmbeddedRunner

if TYPE_CHECKING:
    from ingest.migration.move import Step
    from ingest.migration.target import Target

_NEXT: Final = """\
Everything is on {where}. To go on there, say in the settings:

    engine = "kafka"

The log in {path} is as it was, and no longer needed once you are content. What keeps offsets of its own, such as the
triage store, begins anew on Kafka; its ids keep it from counting anything twice."""


def run_migrate(settings: Settings, console: Console, *, dry_run: bool) -> None:
    """Move the log, or tell what would be moved; raises `LogError` where that cannot be, which is said."""
    require_kafka()
    from ingest.migration.target import Target  # noqa: PLC0415 - needs the extra

    with ExitStack() as stack:
        if not dry_run:
            for name in (DAEMON_LOCK, PROCESSORS_LOCK):
                stack.enter_context(_alone(settings, name))
        found = _caught_up(settings, console, dry_run=dry_run)
        target = stack.enter_context(Target(settings.kafka))
        target.look()
        where = place_of_log(settings.model_copy(update={"engine": "kafka"}))
        if target.progress.done:
            console.print(f"Everything was moved to {where} before.", soft_wrap=True)
        else:
            _must_be_free(target, where)
            if dry_run:
                _tell(found, target, where, console)
                return
            _move(settings, target, console)
        console.print(_NEXT.format(where=where, path=settings.log_path), soft_wrap=True, markup=False)


@contextmanager
def _alone(settings: Settings, name: str) -> Iterator[None]:
    lock = try_lock(settings.state_dir / name)
    if lock is None:
        by = holder(settings.state_dir / name)
        raise LogError(f"process {by.pid if by else 'unknown'} works on the log; stop it before the log is moved")
    with lock:
        yield


def _caught_up(settings: Settings, console: Console, *, dry_run: bool) -> LogStatus:
    """Process what waits: the workers on Kafka begin behind what was captured before."""
    with EmbeddedLog.open(settings.log_path, read_only=True) as log:
        found = log.status()
    names = {processor.name for processor in processors()}
    waiting = sum(group.lag for group in found.groups if group.group in names)
    if waiting and dry_run:
        console.print(f"{waiting:,} records wait for the processors, and would be worked off first.")
    elif waiting:
        console.print(f"{waiting:,} records wait for the processors, and are worked off first.")
        with EmbeddedLog.open(settings.log_path) as log:
            EmbeddedRunner(log, processors(settings.processors.idle_after)).run_until_caught_up()
    return found


def _must_be_free(target: "Target", where: str) -> None:
    """Raise `LogError` unless the topics are empty, or hold what an earlier move brought there."""
    if target.progress:
        return
    if filled := [f"{count:,} of {topic}" for topic, count in target.records().items() if count]:
        raise LogError(
            f"{where} has records of its own ({', '.join(filled)}); a log is moved to empty topics: name others with"
            " kafka.topic_prefix"
        )
    if target.workers_run():
        raise LogError(f"a worker runs on {where} already; stop it until the log is moved")


def _tell(found: LogStatus, target: "Target", where: str, console: Console) -> None:
    for topic in found.topics:
        moved = target.progress.of(topic.topic).records
        console.print(f"{topic.topic}: {topic.records:,} records" + (f", {moved:,} moved before" if moved else ""))
    for source in found.sources:
        console.print(f"source {source.source}: {source.parts:,} checkpoints", markup=False)
    console.print(f"All of it would be moved to {where}.", soft_wrap=True)


def _move(settings: Settings, target: "Target", console: Console) -> None:
    from ingest.migration.move import Move  # noqa: PLC0415 - needs the extra

    if target.progress:
        console.print("Going on with a move that was begun before.")
    target.open()
    with EmbeddedLog.open(settings.log_path, read_only=True) as log, _progress(console) as on_step:
        Move(log, target).run(on_step)


@contextmanager
def _progress(console: Console) -> "Iterator[Callable[[Step], None]]":
    """Show a bar for each part, on a terminal; elsewhere one line once a part is moved."""
    if not console.is_terminal:
        yield lambda step: console.print(f"{step.part}: {step.total:,} moved") if step.done >= step.total else None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as bar:
        tasks: dict[str, TaskID] = {}

        def show(step: "Step") -> None:
            if step.part not in tasks:
                tasks[step.part] = bar.add_task(step.part, total=step.total)
            bar.update(tasks[step.part], completed=step.done)

        yield show
