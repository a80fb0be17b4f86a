"""Titles of Gemini activity records: a verb, and the words a person said, or that nobody said anything.

Source: sections 3.1 and 3.2 of the export formats; no list of all languages is public, so an unknown verb is decided
by whether an answer stands beside it.
"""

import re
from typing import Final, NamedTuple

# The longer of two that begin alike comes first.
_SAID: Final = (
    "Prompted with:", "Prompted", "Asked Gemini:", "Asked Bard:", "Asked", "Said", "Branched", "Answered",
    "Eingegebener Prompt:", "Gav instruktionen",
)  # fmt: skip
_NOT_SAID: Final = (
    "Used", "Created", "Gave feedback", "Selected preferred draft", "Added", "Shared", "Deleted", "Viewed", "Edited",
    "Pinned", "Renamed", "Exported", "Updated",
)  # fmt: skip

_said: Final = re.compile(rf"(?:{'|'.join(map(re.escape, _SAID))})(?:[ \u00a0\n]+|$)")
_not_said: Final = re.compile(rf"({'|'.join(map(re.escape, _NOT_SAID))})(?![^\W_])")
_attached: Final = re.compile(
    r"(?:^|(?<=\s))(?:Attached (\d{1,4}) files?\.|(\d{1,4}) Datei(?:en|\(en\))? angehängt\.)\s*$"
)


class Title(NamedTuple):
    """What a title says: the prompt, or None when nobody said anything; the verb; how many files were attached."""

    prompt: str | None
    verb: str
    files: int = 0


def read_title(title: str, *, answered: bool) -> Title:
    """Read a title. One of an unknown language is a prompt when the record holds an answer, else unknown."""
    if verb := _said.match(title):
        return _prompt(title[verb.end() :], verb[0].strip())
    if verb := _not_said.match(title):
        return Title(None, verb[1])
    return _prompt(title, "") if answered and title.strip() else Title(None, "unknown")


def _prompt(words: str, verb: str) -> Title:
    attached = _attached.search(words)
    if not attached:
        return Title(words.strip(), verb)
    return Title(words[: attached.start()].strip(), verb, int(next(number for number in attached.groups() if number)))
