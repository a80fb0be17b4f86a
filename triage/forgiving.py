"""What the command line forgives, as the origin's scripts expect: arguments are put right before they are parsed.

Source: formats/session-triage-origin.md 1.2.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Final

NUMBERS: Final = frozenset({"--days", "--limit", "--tail-lines", "--window"})
"""Options whose missing value means the default."""

LOG: Final = "--log"


def forgiven(arguments: Sequence[str], commands: Collection[str]) -> list[str]:
    """Give the arguments with every forgiven form written out.

    A number option at the end, or before another option, is left out; one before a negative number keeps it. `--log`
    takes a path only when one follows that is no sub-command.
    """
    return list(_forgiven(list(arguments), commands))


def _forgiven(arguments: list[str], commands: Collection[str]) -> Iterator[str]:
    while arguments:
        argument = arguments.pop(0)
        following = arguments[0] if arguments else None
        if argument == "--":
            yield argument
            yield from arguments
            return
        if argument in NUMBERS:
            if following is not None and not following.startswith("--"):
                yield f"{argument}={arguments.pop(0)}"
        elif argument == LOG:
            has_path = following is not None and not following.startswith("-") and following not in commands
            yield f"{LOG}={arguments.pop(0)}" if has_path else f"{LOG}="
        else:
            yield argument
