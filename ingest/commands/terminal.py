"""What all commands share: the option for settings, and how a command ends with a message.

Imported before a command is known: everything heavy is imported inside.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Final, NoReturn

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from ingest.settings import Settings

EXIT_FAILED: Final = 1
"""Something was rejected, or failed."""
EXIT_USAGE: Final = 2
EXIT_INTERRUPTED: Final = 130
"""128 and SIGINT, as shells have it."""

COLLECT_AFTER: Final = 50_000
"""Container objects between two looks of the garbage collector: a batch of events makes tens of thousands, none of them
in a cycle, and Python's 700 costs a tenth of the processors' time."""


def _print_version(context: typer.Context, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        sys.stdout.write(f"{context.command.name} {version('session-triage')}\n")
        raise typer.Exit


Version = Annotated[bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")]
Config = Annotated[Path | None, typer.Option("--config", metavar="FILE", help="Settings, TOML. [default: platform's]")]


def settings_or_exit(config: Path | None) -> "Settings":
    """Read the settings; wrong ones end the command, a line for each mistake."""
    from ingest.settings import load
    from ingest.settings_errors import SettingsError

    try:
        return load(config)
    except SettingsError as error:
        for line in error.lines:
            sys.stderr.write(f"session-ingest: {line}\n")
        raise typer.Exit(EXIT_USAGE) from None


def fail(message: str, status: int) -> NoReturn:
    """End the command with one line on standard error."""
    sys.stderr.write(f"session-ingest: {message}\n")
    raise typer.Exit(status)


@contextmanager
def exits(interrupted: str, usage: tuple[type[Exception], ...] = ()) -> Iterator[None]:
    """Turn what goes wrong into the command's end, with one line for people: `usage` is their mistake, 2."""
    from ingest.log.contract import LogError

    try:
        yield
    except usage as error:
        fail(str(error), EXIT_USAGE)
    except BrokenPipeError:  # the reader of our output has seen enough
        sys.stderr.close()
        raise typer.Exit(EXIT_FAILED) from None
    except (LogError, OSError) as error:
        fail(str(error), EXIT_FAILED)
    except KeyboardInterrupt:
        fail(interrupted, EXIT_INTERRUPTED)


@contextmanager
def progress_bar(what: str, total: int, console: "Console") -> Iterator[Callable[[str, int], None] | None]:
    """Show a bar over `total` bytes, on a terminal only; what it gives is told a name and the bytes that are done."""
    if not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda name, done: bar.update(task, description=name[:30], completed=done)


_ENDING: Final = (signal.SIGTERM, signal.SIGHUP)
"""What a service manager, a shutdown and a closed terminal send."""


class _Ended(BaseException):
    """A signal asked the process to end; like `KeyboardInterrupt` no `except Exception` holds it up."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def tidy_end() -> Iterator[None]:
    """Let a command clean up behind itself when a signal ends it: no half-written file stays.

    Python's own way is to be gone at once. The process still dies of the signal, as whoever sent it expects to see; a
    second one ends it in the middle of cleaning up. One that is ignored (`nohup`) stays ignored.
    """
    before = {number: signal.getsignal(number) for number in _ENDING}
    heard = [number for number, handler in before.items() if handler is signal.SIG_DFL]

    def end(number: int, frame: FrameType | None) -> None:
        del frame
        for each in heard:
            signal.signal(each, signal.SIG_DFL)
        raise _Ended(number)

    for number in heard:
        signal.signal(number, end)
    try:
        yield
    except _Ended as ended:
        sys.stderr.write("session-ingest: ended by a signal; what was being written is gone\n")
        sys.stderr.flush()
        os.kill(os.getpid(), ended.number)
        raise
    finally:
        for number in heard:
            signal.signal(number, signal.SIG_DFL)
