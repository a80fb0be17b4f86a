"""Commands that the person at the keyboard ran: `bashExecution` messages.

Source: section 2.4 and the rule of 2.9 of the format page; E28.
"""

from typing import Final

from adapters.sessions.drafts import OPERATOR_SHELL
from adapters.sessions.pi_reading import Reading
from adapters.sessions.pi_shapes import Message
from schemas.captured import CapturedEvent

WHAT: Final = "message/bashExecution"


def read_shell(message: Message) -> Reading:
    """Read a command and its output; `!!` keeps it out of the model's sight, and so out of ours."""
    command = message.command if isinstance(message.command, str) else None
    output = message.output if isinstance(message.output, str) else None
    if command is None and output is None:
        return Reading(WHAT)
    text = "\n".join(line for line in (None if command is None else f"$ {command}", output) if line)
    identity = ("bashExecution", None, command, output)
    event = CapturedEvent(
        id="", type="tool_result", role="bashExecution", text=text, labels=_labels(message), raw_type=WHAT
    )
    if message.exclude_from_context is not True:
        return Reading(WHAT, [(event, identity)])
    event.type, event.role = "status", "system"
    event.labels.append("hidden")
    return Reading(WHAT, [(event, identity)], "hidden")


def _labels(message: Message) -> list[str]:
    labels = [OPERATOR_SHELL]
    code = message.exit_code
    # Beyond 32 bits no system has exit codes; true is no number.
    if type(code) is int and code != 0 and abs(code) < 1 << 32:
        labels += ["error", f"exit-{code}"]
    labels += [label for label in ("cancelled", "truncated") if getattr(message, label) is True]
    return labels
