"""Notes with ideas: Markdown files, or folders of them (not their sub-folders), as the origin reads them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from triage.report.gather import Gatherer
from triage.report.ideas import ideas_in
from triage.report.model import Problem
from triage.report.model_parts import Idea
from triage.report.reading import rejection
from triage.report.words import path_text

SUFFIXES: Final = frozenset({".md", ".markdown"})

MAX_NOTE_BYTES: Final = 16 * 1024 * 1024
"""A note of more was not written by a person."""


def read_ideas(gatherer: Gatherer, paths: tuple[Path, ...]) -> list[Idea]:
    """Read the ideas of all notes; a source that cannot be read becomes a problem."""
    return [idea for path in paths for note in _notes(gatherer, path) for idea in _ideas(gatherer, note)]


def _notes(gatherer: Gatherer, path: Path) -> Iterator[Path]:
    if not path.is_dir():
        if path.suffix.lower() in SUFFIXES:
            yield path
        else:
            words = "ideas are read from .md and .markdown files"
            gatherer.problem(Problem(severity="warning", where=path_text(path), reason="not-a-note", detail=words))
        return
    try:
        notes = sorted(note for note in path.iterdir() if note.suffix.lower() in SUFFIXES and note.is_file())
    except OSError as error:
        gatherer.problem(rejection(path_text(path), "unreadable", error.strerror or str(error)))
        return
    yield from notes


def _ideas(gatherer: Gatherer, note: Path) -> list[Idea]:
    try:
        with note.open("rb") as file:
            raw = file.read(MAX_NOTE_BYTES + 1)
    except OSError as error:
        gatherer.problem(rejection(path_text(note), "unreadable", error.strerror or str(error)))
        return []
    if len(raw) > MAX_NOTE_BYTES:
        gatherer.problem(rejection(path_text(note), "too-large", f"more than {MAX_NOTE_BYTES} bytes"))
        return []
    text = raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    return list(ideas_in(text, "markdown", path_text(note)))
