"""Puts the lines of a report on a terminal or into a file: colour only where a person sees it."""

import os
from collections.abc import Iterable, Mapping
from typing import Final, TextIO

from rich.console import Console
from rich.text import Text

from triage.report.layout import MAX_COLUMNS, MIN_COLUMNS, Line, Style

_STYLES: Final[dict[Style, str]] = {
    "plain": "",
    "title": "bold",
    "heading": "bold underline",
    "dim": "dim",
    "quote": "italic",
    "alarm": "bold red",
    "ask": "bold yellow",
    "good": "green",
    "key": "bold cyan",
}


def wants_colour(stream: TextIO, environment: Mapping[str, str], *, no_color: bool) -> bool:
    """Whether to colour: on a terminal that is not dumb, unless somebody said no. Source: no-color.org."""
    if no_color or environment.get("NO_COLOR") or environment.get("TERM") == "dumb":
        return False
    return stream.isatty()


def columns_of(stream: TextIO) -> int:
    """Columns to use: those of the terminal up to 80, and 80 where there is none."""
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):  # no terminal, or a stream without a file
        return MAX_COLUMNS
    return max(MIN_COLUMNS, min(MAX_COLUMNS, columns)) if columns else MAX_COLUMNS


def paint(lines: Iterable[Line], stream: TextIO, *, colour: bool) -> None:
    """Write lines; without colour no escape sequence leaves."""
    if not colour:
        stream.writelines("".join(span.text for span in line).rstrip() + "\n" for line in lines)
        return
    console = Console(file=stream, force_terminal=True, color_system="standard", highlight=False, markup=False)
    for line in lines:
        text = Text.assemble(*((span.text, _STYLES[span.style]) for span in line))
        console.print(text, no_wrap=True, overflow="ignore", crop=False, soft_wrap=True)
