"""What waits for the operator: the rules, on threads' ends.

1. An ask waits when it is the last of its author's words, nobody it was put to has spoken since on any branch of the
   thread, and its author has not gone on working. In a chat anybody else's word is an answer; a person who writes more
   after asking still waits.
2. A call of an ask-the-operator tool waits until its result, an operator's word, or its agent's next words.
3. An agent whose last words say that it is blocked waits in the same way.
4. An error or abort waits when it ended the thread: neither its agent nor the operator went on.

Blocked items and failed runs come from summaries, the board and runs. Order: approvals, questions, failures, blocked;
within each the oldest first, what has no time last.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from triage.report.asking import Ask, find_ask
from triage.report.model import Waiting, WaitingKind
from triage.report.threads import Moment, Thread, Turn
from triage.report.words import quote

ORDER: Final[tuple[WaitingKind, ...]] = ("approval", "question", "failed", "aborted", "blocked")
"""Leave comes first: somebody stands still until it is given. Then answers, then what broke, then what is stuck."""

_QUESTION_KEYS: Final = ("question", "prompt", "message", "text", "plan", "query", "title", "header", "description")
_LONE_MARK: Final = re.compile(r"\W*")


def waiting_in_threads(threads: Iterable[Thread]) -> Iterator[Waiting]:
    """Give everything that waits at the threads' ends."""
    for thread in threads:
        yield from _asks(thread)
        yield from _calls(thread)
        yield from _stops(thread)


def ranked(items: Iterable[Waiting]) -> list[Waiting]:
    """Put items in the order in which an operator should look at them."""
    return sorted(items, key=_rank)


def _rank(item: Waiting) -> tuple[int, bool, str, str, str]:
    name = item.event_id or item.task_id or item.run_id or ""
    group = ORDER.index("failed" if item.kind == "aborted" else item.kind)
    return group, item.since is None, item.since or "", name, item.words


def _asks(thread: Thread) -> Iterator[Waiting]:
    for (kind, name), turns in thread.turns.items():
        last = turns[-1]
        if _answered(thread, last, name):
            continue
        if kind == "person":
            run = [turn for turn in turns if not _answered(thread, turn, name)]
            asks = [(turn, ask) for turn in run if (ask := find_ask(turn.words))]
        else:
            ask = find_ask(last.words)
            asks = [(last, ask)] if ask and not _went_on(thread, last) else []
        if asks:
            yield _ask(thread, *asks[0], more=len(asks) - 1)
        elif last.blocked and not _went_on(thread, last):
            yield _item(thread, last, "blocked", "said-blocked", quote(last.blocked))


def _answered(thread: Thread, turn: Turn, name: str) -> bool:
    """Whether somebody to whom the turn was said has spoken since."""
    if thread.spoke is not None and thread.spoke > turn.at:
        return True
    if not thread.chat:
        return False
    return any(other != name and turns[-1].at > turn.at for (_, other), turns in thread.turns.items())


def _went_on(thread: Thread, turn: Turn) -> bool:
    """Whether an agent called a tool after its words, or its turn broke off."""
    worked = thread.worked.get(turn.who.role)
    broke = thread.stopped is not None and thread.stopped[0].entry == turn.entry
    return broke or (worked is not None and worked > turn.at)


def _ask(thread: Thread, turn: Turn, ask: Ask, more: int) -> Waiting:
    return _item(thread, turn, ask.kind, "unanswered-ask", ask.words, more)


def _calls(thread: Thread) -> Iterator[Waiting]:
    for identifier, call in thread.calls.items():
        if identifier not in thread.results and not _moved_on(thread, call.turn):
            yield _item(thread, call.turn, call.kind, "pending-ask-tool", asked_words(call.turn.words))


def _moved_on(thread: Thread, turn: Turn) -> bool:
    """Whether the operator spoke since, or the agent said something new in another entry."""
    return _since(thread.spoke, turn.at) or any(
        kind == "agent" and turns[-1].at > turn.at and turns[-1].entry != turn.entry
        for (kind, _), turns in thread.turns.items()
    )


def _since(moment: Moment | None, at: Moment) -> bool:
    return moment is not None and moment > at


def asked_words(text: str) -> str:
    """Give the question among the arguments of a call's text, or the arguments as they stand."""
    try:
        arguments = msgspec.json.decode(text.partition(" ")[2])
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return quote(text)
    return quote(_question(arguments) or text)


def _question(value: object, depth: int = 0) -> str | None:
    """Find the first text under a telling name, not deeper than such tools nest their questions."""
    if isinstance(value, str):
        return value if _LONE_MARK.sub("", value) else None
    if depth > 3:  # noqa: PLR2004 - {"questions": [{"question": "…"}]} is the deepest known
        return None
    if isinstance(value, list):
        return next((found for item in value if (found := _question(item, depth + 1))), None)
    if not isinstance(value, dict):
        return None
    keys = [key for key in _QUESTION_KEYS if key in value] or [key for key in ("questions", "input") if key in value]
    return next((found for key in keys if (found := _question(value[key], depth + 1))), None)


def _stops(thread: Thread) -> Iterator[Waiting]:
    if thread.stopped is None:
        return
    turn, kind = thread.stopped
    went_on = (
        _since(thread.spoke, turn.at)
        or any(_since(worked, turn.at) for worked in thread.worked.values())
        or any(kind == "agent" and turns[-1].at > turn.at for (kind, _), turns in thread.turns.items())
    )
    if not went_on:
        yield _item(thread, turn, "aborted" if kind == "aborted" else "failed", "ended-in-error", quote(turn.words))


def _item(thread: Thread, turn: Turn, kind: WaitingKind, rule: str, words: str, more: int = 0) -> Waiting:
    where = turn.where
    if thread.title is not None:
        where = msgspec.structs.replace(where, title=thread.title)
    return Waiting(
        kind=kind,
        rule=rule,
        words=words,
        where=where,
        who=turn.who,
        since=turn.since,
        time_inferred=turn.inferred,
        event_id=turn.event_id,
        more=more,
    )
