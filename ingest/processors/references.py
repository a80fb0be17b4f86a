"""References in words: board tasks and issues. Run ids come from signals alone (`colony`).

Source: table 1.6 of the origin's notes. Lower-case board ids (`colony-c1-promotion`) count only where a board has them,
which is for the triage to say.
"""

import re
from heapq import merge
from itertools import islice
from typing import Final

from ingest.processors.fences import Span, fenced_spans, inside
from schemas.event import Refs

MAX_REFS: Final = 500
"""References kept of each kind: a change log of megabytes must not double its event."""

_MAX_PLACES: Final = 20_000
"""Places looked at for issues: a text with more is data, and megabytes of `#1#1#1` must not hold up the stream."""

_HASH, _SLASH, _HYPHEN = b"#/-"

# Both begin with one certain character, for which `re` searches as fast as memory goes.
_HINT_OF_TASK: Final = re.compile(r"-(?<=[Tt][Aa][Ss][Kk]-)")
_HINT_OF_URL: Final = re.compile(r"/(?<=[sSlL]/)[1-9]")

_MAX_TASK_CHARS: Final = 80
"""Longer words that begin with TASK- are no ids; those on real boards have at most 40 characters."""

_TASK: Final = re.compile(r"(?<![\w-])TASK((?:-[A-Z0-9]+)+)", re.ASCII | re.IGNORECASE)

_NUMBER: Final = re.compile(r"#([1-9][0-9]{0,6})(?!\w|-\w|\.\d)")
"""No issue begins with 0 (colours do), has eight digits, or is followed by letters (colours, anchors) or a decimal."""

_REPOSITORY_BEFORE: Final = re.compile(
    r"(?<![\w./@:#&=?%~+-])([A-Za-z0-9](?:[A-Za-z0-9-]{0,38})/[A-Za-z0-9._-]{1,100})\Z", re.ASCII
)
_REPOSITORY_CHARS: Final = 142
"""39 for an owner and 100 for a repository (GitHub's limits), the slash, and two to see the boundary."""

_PAGE: Final = re.compile(r"\.(?:md|html?|rst|txt|adoc|php|aspx?|pdf|svg)\Z", re.IGNORECASE)
"""`guide/setup.md#12` is a place in a page."""

_GLUED: Final = frozenset("_&#/")
"""Before `#12` these, like a letter, make it an entity, a fragment or a heading."""

_URL: Final = re.compile(
    r"(?<![\w.-])(?:[a-z0-9-]{1,40}\.)?git(?:hub|lab)(?:\.[a-z0-9-]{1,40}){1,4}/"
    # GitLab's groups nest; its `/-/` then tells the project from what is in it.
    r"([\w.-]{1,100}/[\w.-]{1,100}(?=/(?:-/)?[ipm])|[\w.-]{1,100}(?:/[\w.-]{1,100}){2,6}(?=/-/))"
    r"/(?:-/)?(?:issues|pull|merge_requests)/([1-9][0-9]{0,6})(?!\w)",
    re.ASCII | re.IGNORECASE,
)


def find_refs(text: str, *, tool_output: bool = False) -> Refs | None:
    """Find the references in a text, each list unique and in order of first sight; None when there are none.

    Tasks count everywhere. Issues count outside code fences, and not in what a tool was given or gave
    (`tool_output`): a `#123` there is mostly something else.
    """
    tasks = _tasks(text) if _HINT_OF_TASK.search(text) else []
    issues = [] if tool_output else _issues(text)
    return Refs(task_ids=tasks, issue_ids=issues) if tasks or issues else None


def may_refer(encoded: bytes) -> bool:
    """Whether `find_refs` may find anything in a text, by its JSON in UTF-8: a quick no for texts of words alone."""
    return _HASH in encoded or _SLASH in encoded or _HYPHEN in encoded


def merge_refs(given: Refs | None, found: Refs | None) -> Refs | None:
    """Put what was found behind what was given, each reference once."""
    if given is None or found is None:
        merged = given or found
        return merged if merged and (merged.task_ids or merged.issue_ids or merged.run_ids) else None
    return Refs(
        task_ids=_unique([*given.task_ids, *found.task_ids]),
        issue_ids=_unique([*given.issue_ids, *found.issue_ids]),
        run_ids=_unique([*given.run_ids, *found.run_ids]),
    )


def _unique(items: list[str]) -> list[str]:
    return list(dict.fromkeys(items))


def _tasks(text: str) -> list[str]:
    tasks: dict[str, None] = {}
    for match in _TASK.finditer(text):
        task = match[0].upper()
        if len(task) <= _MAX_TASK_CHARS and any(map(str.isdigit, match[1])):
            tasks[task] = None
            if len(tasks) == MAX_REFS:
                break
    return list(tasks)


def _issues(text: str) -> list[str]:
    has_number, has_url = "#" in text, _HINT_OF_URL.search(text) is not None
    if not has_number and not has_url:
        return []
    numbers = _NUMBER.finditer(text) if has_number else iter(())
    urls = _URL.finditer(text) if has_url else iter(())
    fences: list[Span] | None = None
    issues: dict[str, None] = {}
    for match in islice(merge(numbers, urls, key=re.Match[str].start), _MAX_PLACES):
        fences = fenced_spans(text) if fences is None else fences
        issue = None if inside(match.start(), fences) else _issue(text, match)
        if issue:
            issues[issue] = None
            if len(issues) == MAX_REFS:
                break
    return list(issues)


def _issue(text: str, match: re.Match[str]) -> str | None:
    if match.re is _URL:
        return f"{match[1]}#{match[2]}"
    start = match.start()
    last = text[start - 1] if start else " "
    if last in _GLUED or text[max(0, start - 2) : start] == "](":
        return None
    if not last.isalnum() and last not in ".-":
        return match[0]
    repository = _REPOSITORY_BEFORE.search(text[max(0, start - _REPOSITORY_CHARS) : start])
    if repository:
        return None if _PAGE.search(repository[1]) else repository[1] + match[0]
    return None if last.isalnum() else match[0]
