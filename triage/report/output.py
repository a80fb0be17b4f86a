"""Prints a report: JSON alone, or lines for a person."""

from collections.abc import Mapping
from io import TextIOWrapper
from typing import TextIO

import msgspec

from triage.report.model import Report
from triage.report.paint import columns_of, paint, wants_colour
from triage.report.render import lines


def as_json(report: Report) -> str:
    """Give the report as JSON with two blanks of indent and a newline, as the origin prints it."""
    return msgspec.json.format(msgspec.json.encode(report), indent=2).decode() + "\n"


def write_json(report: Report, stream: TextIO) -> None:
    """Write the report as JSON, in UTF-8 whatever the locale says."""
    _speak_utf8(stream)
    stream.write(as_json(report))


def write_text(report: Report, stream: TextIO, environment: Mapping[str, str], *, no_color: bool) -> None:
    """Write the report for a person."""
    colour = wants_colour(stream, environment, no_color=no_color)
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="replace")
    paint(lines(report, columns_of(stream)), stream, colour=colour)


def _speak_utf8(stream: TextIO) -> None:
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(encoding="utf-8", errors="replace")
