"""The options of the commands that propose and decide. Everything heavy is imported when a command runs."""

from typing import Annotated

import typer

from triage.board.model import Action, ProposalKind, TaskStatus
from triage.commands.board_options import AsJson, Config, Note, Workspace, Yes, common_of

_Proposal = Annotated[str, typer.Argument(metavar="PROPOSAL", help="The beginning of its id, or the task it is about.")]
_Task = Annotated[str, typer.Argument(metavar="TASK", help="The task's id.")]
_Verification = Annotated[
    str | None, typer.Option(metavar="ID", help="The verification, passed, that lets a task be completed.")
]
_Method = Annotated[str | None, typer.Option(metavar="WORD", help="How it was verified: command, inspect, test, …")]
_Evidence = Annotated[str | None, typer.Option(metavar="TEXT", help="What shows it.")]


def mount(app: typer.Typer) -> None:
    """Add the commands to those of `app`."""
    for command in (propose, approve, reject, defer, complete, move, reopen, verify, archive):
        app.command(command.__name__)(command)


def propose(
    context: typer.Context,
    kind: Annotated[ProposalKind, typer.Argument(help="What it asks for.")],
    words: Annotated[list[str] | None, typer.Argument(metavar="[WORDS]...", help="What to do, in a line.")] = None,
    task: Annotated[
        str | None, typer.Option(metavar="ID", help="The task it is about; the id of the one it would add.")
    ] = None,
    why: Annotated[str, typer.Option(metavar="TEXT", help="Why, in a line.")] = "",
    priority: Annotated[str | None, typer.Option(metavar="P", help="p0 to p3.")] = None,
    workspace: Workspace = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Propose something; agents may. The same thing proposed again is the same proposal."""
    from triage.board.proposing import Suggestion
    from triage.commands.board_decide import suggest

    title = " ".join(words or ())
    suggestion = Suggestion(kind=kind, title=title, why=why, task_id=task, priority=priority)
    suggest(common_of(context, workspace, config, as_json), suggestion)


def approve(
    context: typer.Context,
    proposal: _Proposal,
    to: Annotated[TaskStatus | None, typer.Option(help="Unblock to planned instead of in-progress.")] = None,
    task_id: Annotated[str | None, typer.Option(metavar="ID", help="The id that the new task shall have.")] = None,
    verification: _Verification = None,
    method: _Method = None,
    evidence: _Evidence = None,
    note: Note = None,
    yes: Yes = False,
    workspace: Workspace = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Do what a proposal proposes. For a done-candidate that is `complete`, with all that it takes."""
    from triage.board.request import Request
    from triage.commands.board_decide import decide_on_proposal

    request = Request(
        action=Action.APPROVE,
        to=to,
        task_id=task_id,
        verification=verification,
        method=method,
        evidence_text=evidence,
        note=note,
    )
    decide_on_proposal(common_of(context, workspace, config, as_json), proposal, request, yes=yes)


def reject(
    context: typer.Context,
    proposal: _Proposal,
    note: Note = None,
    yes: Yes = False,
    workspace: Workspace = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Leave the board as it is, and put a proposal away. The same evidence does not bring it back."""
    from triage.board.request import Request
    from triage.commands.board_decide import decide_on_proposal

    request = Request(action=Action.REJECT, note=note)
    decide_on_proposal(common_of(context, workspace, config, as_json), proposal, request, yes=yes)


def defer(
    context: typer.Context,
    proposal: _Proposal,
    until: Annotated[
        str | None, typer.Option(metavar="TIME", help="A date or a time, UTC unless it says more.")
    ] = None,
    days: Annotated[float | None, typer.Option(metavar="N", help="So many days from now.")] = None,
    note: Note = None,
    yes: Yes = False,
    workspace: Workspace = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Put a proposal off until a time to come; then it waits again."""
    from triage.commands.board_decide import defer_proposal

    defer_proposal(common_of(context, workspace, config, as_json), proposal, until, days, note, yes=yes)


def complete(
    context: typer.Context,
    task: _Task,
    verification: _Verification = None,
    evidence: _Evidence = None,
    method: _Method = None,
    note: Note = None,
    yes: Yes = False,
    workspace: Workspace = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Complete a task: takes a verification of it that passed, and evidence. The only way to `completed`."""
    from triage.board.request import Request
    from triage.commands.board_decide import decide_on_task

    request = Request(
        action=Action.COMPLETE,
        task_id=task,
        verification=verification,
        method=method,
        evidence_text=evidence,
        note=note,
    )
    decide_on_task(common_of(context, workspace, config, as_json), request, yes=yes)


def move(
    context: typer.Context,
    task: _Task,
    to: Annotated[TaskStatus, typer.Argument(metavar="STATUS", help="planned, in-progress, blocked, or cancelled.")],
    note: Note = None,
    yes: Yes = False,
    workspace: Workspace = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Let a task go to another status, where there is a way."""
    from triage.board.request import Request
    from triage.commands.board_decide import decide_on_task

    request = Request(action=Action.MOVE, task_id=task, to=to, note=note)
    decide_on_task(common_of(context, workspace, config, as_json), request, yes=yes)


def reopen(
    context: typer.Context,
    task: _Task,
    note: Note = None,
    yes: Yes = False,
    workspace: Workspace = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Plan a completed or cancelled task again."""
    from triage.board.request import Request
    from triage.commands.board_decide import decide_on_task

    request = Request(action=Action.REOPEN, task_id=task, note=note)
    decide_on_task(common_of(context, workspace, config, as_json), request, yes=yes)


def verify(
    context: typer.Context,
    task: _Task,
    verification: Annotated[str, typer.Argument(metavar="VERIFICATION", help="The id it shall have.")],
    status: Annotated[str, typer.Argument(metavar="STATUS", help="passed, failed, partial, or skipped.")],
    method: _Method = None,
    evidence: _Evidence = None,
    note: Note = None,
    yes: Yes = False,
    workspace: Workspace = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Record in verification.json how a task was verified; the task itself stays as it is."""
    from triage.board.request import Request
    from triage.commands.board_decide import decide_on_task

    request = Request(
        action=Action.VERIFY,
        task_id=task,
        verification=verification,
        verification_status=status,
        method=method,
        evidence_text=evidence,
        note=note,
    )
    decide_on_task(common_of(context, workspace, config, as_json), request, yes=yes)


def archive(
    context: typer.Context,
    task: _Task,
    note: Note = None,
    yes: Yes = False,
    workspace: Workspace = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Move a completed task and its verifications to .project/archive, as they are."""
    from triage.board.request import Request
    from triage.commands.board_decide import decide_on_task

    request = Request(action=Action.ARCHIVE, task_id=task, note=note)
    decide_on_task(common_of(context, workspace, config, as_json), request, yes=yes)
