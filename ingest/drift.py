"""Format drift: says at once when a source begins to give what this version does not know, or nothing at all.

Vendors change their formats without a word, and a reader that passes over what it does not know then loses histories in
silence. Two signs, over the elements of one source in the order they came:

*unknown*: among the last `WINDOW` the share of those that are unknown (`adapters.contract.Skipped`) or rejected is a
tenth more than twice what it was before, or above a half whatever it was before.

*silence*: a source that had events gives none for `SILENT` elements, or one that had messages none for `WORDLESS`.

A sign lasts until it is over. Duplicates tell nothing of a format and are left out.
"""

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from adapters.contract import Element, Heard, Rejected, Skipped

WINDOW: Final = 200
"""Some minutes of one agent at work: short enough to be noticed the same day, long enough for an odd burst to drown."""

MIN_STRANGE: Final = 10
"""Fewer are an accident, such as one file of another program."""

MORE: Final = 0.1
TIMES: Final = 2.0
MOST: Final = 0.5
"""See the rule above. Before `WINDOW` elements were seen the share before counts as none."""

SILENT: Final = 200
"""Bookkeeping lines come in rows of tens, between words and tool calls."""

WORDLESS: Final = 2000
"""An agent at work calls tools some hundred times without a word in between."""

_STRANGE_COUNTS: Final = ("unknown", "rejected")


@dataclass(slots=True)
class DriftWatch:
    """Watches one source; `signs` are the present ones, in words for people, by kind (`unknown`, `silence`)."""

    signs: dict[str, str] = field(default_factory=dict)
    seeded: bool = False
    _seen: int = 0
    _strange: int = 0
    _window: deque[str | None] = field(default_factory=lambda: deque(maxlen=WINDOW))
    _kinds: Counter[str] = field(default_factory=Counter)
    """What was strange in the window, by its kind."""
    _had_events: bool = False
    _had_messages: bool = False
    _since_event: int = 0
    _since_message: int = 0

    def seed(self, counts: Mapping[str, int]) -> None:
        """Take up what the log has counted of this source so far."""
        self.seeded = True
        self._seen += counts.get("seen", 0) - counts.get("duplicate", 0)
        self._strange += sum(counts.get(name, 0) for name in _STRANGE_COUNTS)
        self._had_events = self._had_events or counts.get("emitted", 0) > 0

    def note(self, elements: Iterable[Element]) -> set[str]:
        """Take in the elements of one capture and judge anew; gives the kinds of the signs that are new."""
        before = set(self.signs)
        for element in elements:
            match element:
                case Heard(event=event):
                    self._had_events, self._since_event = True, 0
                    if event.type == "message":
                        self._had_messages, self._since_message = True, 0
                    else:
                        self._since_message += 1
                    self._add(None)
                case Rejected(reason=reason):
                    self._pass_over(reason, 1)
                case Skipped(outcome=outcome, what=what, count=count) if outcome != "duplicate":
                    self._pass_over(what if element.unknown else None, count)
        self._judge_unknown()
        self._judge_silence()
        return self.signs.keys() - before

    def _pass_over(self, kind: str | None, count: int) -> None:
        self._since_event += count
        self._since_message += count
        for _ in range(min(count, WINDOW)):
            self._add(kind)

    def _add(self, kind: str | None) -> None:
        """Put one element into the window; what falls out of it belongs to the time before."""
        window = self._window
        if len(window) == WINDOW:
            oldest = window[0]
            if oldest is not None:
                self._kinds[oldest] -= 1
            if "unknown" not in self.signs:  # what came after a change must not become what is usual
                self._seen += 1
                self._strange += oldest is not None
        window.append(kind)
        if kind is not None:
            self._kinds[kind] += 1
            if "unknown" not in self.signs:  # at once: the rest of a large capture would pass for what is usual
                self._judge_unknown()

    def _judge_unknown(self) -> None:
        strange = self._kinds.total()
        share, before = strange / max(1, len(self._window)), self._share_before()
        limit = min(MOST, MORE + TIMES * before)
        if strange >= MIN_STRANGE and share > limit:
            self.signs.setdefault("unknown", self._unknown(strange, before))
        elif share <= limit / 2:
            self.signs.pop("unknown", None)

    def _judge_silence(self) -> None:
        if self._had_events and self._since_event >= SILENT:
            self.signs["silence"] = f"its last {self._since_event} elements gave no event at all; {_ADVICE}"
        elif self._had_messages and self._since_message >= WORDLESS:
            self.signs["silence"] = f"its last {self._since_message} elements gave no message; {_ADVICE}"
        else:
            self.signs.pop("silence", None)

    def _share_before(self) -> float:
        return self._strange / self._seen if self._seen >= WINDOW else 0.0

    def _unknown(self, strange: int, before: float) -> str:
        ((most, _),) = self._kinds.most_common(1)
        return (
            f"{strange} of its last {len(self._window)} elements are unknown to this version or unreadable, mostly"
            f" {most!a}; before it was {before:.1%}; {_ADVICE}"
        )


_ADVICE: Final = "its format may have changed: look for a newer version of session-triage, and keep the originals"
