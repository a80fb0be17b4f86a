"""What every `session-triage board` command does: open the store, know who acts, finish what was left, end well."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn

import msgspec
import typer

from ingest.clock import now_ms
from ingest.settings import load
from ingest.settings_errors import SettingsError
from triage.board.actors import KeySettingError, actor_of
from triage.board.desk import Desk, Outcome
from triage.board.export import decision_json
from triage.board.json_files import BoardFileError
from triage.board.model import Actor, Application, ApplicationOutcome, Decision, Proposal
from triage.board.refusals import Refusal, RefusedError
from triage.report.usage import absolute
from triage.report.words import one_line, path_text
from triage.store.database import Store
from triage.store.errors import StoreError
from triage.store.proposals import WAITING, Wanted
from triage.store.repository import Repository

EXIT_REFUSED: Final = 1
"""Refused, in conflict with another writer, or not on the board yet."""
EXIT_USAGE: Final = 2
EXIT_INTERRUPTED: Final = 130


@dataclass(frozen=True, slots=True)
class Common:
    """The options that all commands have."""

    workspace: Path
    config: Path | None
    as_json: bool


@dataclass(frozen=True, slots=True)
class Session:
    """One command at work."""

    store: Store
    desk: Desk
    actor: Actor
    now_ms: int
    as_json: bool


class UsageError(Exception):
    """Wrong usage; the message says what to do."""


@contextmanager
def opened(common: Common, *, reading: bool = False) -> Iterator[Session]:
    """Open the store for a command, and end the command with a message and a status when something is in its way.

    Decisions that an earlier command could not finish are finished first. A command that only reads makes no store.
    """
    try:
        settings = load(common.config)
        with ExitStack() as stack:
            place = settings.triage_store
            if reading and isinstance(place, Path) and not place.exists():
                place = Path(stack.enter_context(tempfile.TemporaryDirectory())) / place.name
            store = stack.enter_context(Store.open(place))
            desk = Desk(store, _workspace(common))
            actor = actor_of(store, os.environ)
            _settle(desk)
            yield Session(store, desk, actor, now_ms(), common.as_json)
    except RefusedError as error:
        _refuse(error, as_json=common.as_json)
    except (UsageError, KeySettingError) as error:
        end(str(error), EXIT_USAGE)
    except SettingsError as error:
        end("\n".join(error.lines), EXIT_USAGE)
    except (StoreError, BoardFileError) as error:
        end(str(error), EXIT_REFUSED)
    except BrokenPipeError:  # the reader of our output has seen enough
        sys.stderr.close()
        raise typer.Exit(EXIT_REFUSED) from None
    except KeyboardInterrupt:
        end("interrupted; nothing was decided", EXIT_INTERRUPTED)


def find_proposal(repository: Repository, workspace: str, text: str) -> Proposal:
    """Give the proposal whose id begins so, or the one that waits about the task of that id.

    Raises `RefusedError` when there is none, and `UsageError` when there are several.
    """
    text = one_line(text)
    found = repository.proposals.matching(text.lower()) if text else []
    if not found:
        wanted = Wanted(workspaces=[workspace], statuses=WAITING, held=True, settled=True)
        found = [one for one in repository.proposals.listed(wanted) if one.task_id == text]
    if not found:
        raise RefusedError(
            Refusal.NO_PROPOSAL, f"there is no proposal {one_line(text)}, and none waits about such a task"
        )
    if len(found) > 1:
        ids = ", ".join(one.id for one in found)
        raise UsageError(f"{one_line(text)} may be any of: {ids}")
    return found[0]


def tell(outcome: Outcome, *, as_json: bool) -> NoReturn:
    """Say what came of a decision, and end the command with its status."""
    if as_json:
        write_json({"outcome": _word(outcome), **decision_json(outcome.decision, outcome.application)})
    elif outcome.done:
        sys.stdout.write(f"{said(outcome.decision)}\n")
    else:
        note(f"{said(outcome.decision)}, but {_why_not(outcome.application, outcome.waiting)}")
    raise typer.Exit(0 if outcome.done else EXIT_REFUSED)


def said(decision: Decision) -> str:
    """Say a decision in one line."""
    about = decision.task_id or (decision.proposal_id or "")[:8]
    after = decision.task_after
    status = f" (now {one_line(str(after.get('status')))})" if after is not None else ""
    return (
        f"decision {decision.number}: {decision.action} {one_line(about)}{status}, by {one_line(decision.actor.name)}"
    )


def write_json(value: Any) -> None:
    """Print JSON, and nothing else."""
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")


def note(message: str) -> None:
    """Write a line for a person on standard error."""
    sys.stderr.write(f"session-triage: {message}\n")


def end(message: str, status: int) -> NoReturn:
    """End the command with a message on standard error, a line of it each."""
    for line in message.splitlines():
        note(line)
    raise typer.Exit(status)


def _workspace(common: Common) -> Path:
    workspace = absolute(common.workspace)
    if not workspace.is_dir():
        raise UsageError(f"--workspace {one_line(path_text(workspace))}: there is no such folder")
    return workspace


def _settle(desk: Desk) -> None:
    for outcome in desk.settle():
        came = "is on the board now" if outcome.done else _why_not(outcome.application, outcome.waiting)
        note(f"finishing {said(outcome.decision)}: {came}")


def _refuse(error: RefusedError, *, as_json: bool) -> NoReturn:
    if as_json:
        blockers = [blocker.value for blocker in error.blockers]
        write_json({"outcome": "refused", "reason": error.reason.value, "message": str(error), "blockers": blockers})
        raise typer.Exit(EXIT_REFUSED)
    end(f"refused ({error.reason}): {error}", EXIT_REFUSED)


def _word(outcome: Outcome) -> str:
    if outcome.done:
        return "done"
    return "waiting" if outcome.application is None else outcome.application.outcome.value


def _why_not(application: Application | None, waiting: str | None) -> str:
    if application is not None and application.outcome is ApplicationOutcome.CONFLICT:
        return f"conflict: {application.detail}; nothing was written, look again and decide anew"
    return f"not on the board yet: {waiting}"
