"""One message in several forms: which of a rollout's lines say something that no line before said.

A prompt and its reply are written as the model's item, as the program's event and, in newer versions, as a completed
item: all of them, or any. Within a turn the first line of whatever form is told; a line of another form with the same
words is its copy. Each form counts its own lines, so that what is said twice in one turn is told twice. Source: the
traps of section 3.2 of the format page; B33.
"""

from typing import Final

RESPONSE_ITEM: Final = 0
EVENT: Final = 1
COMPLETED_ITEM: Final = 2
_FORMS: Final = 3


class Forms:
    """Counts the lines of the present turn by their words and forms; a few dozen bytes a message of one turn.

    A file without marks of turns is one turn: what it says in all forms is still told once each.
    """

    def __init__(self) -> None:
        self._counts: dict[int, list[int]] = {}
        self._unanswered: set[int] = set()

    def is_new(self, key: int, form: int, *, prompt: bool) -> bool:
        """Whether a line tells something new; `key` stands for its speaker and words."""
        counts = self._counts.setdefault(key, [0] * (_FORMS + 1))
        counts[form] += 1
        new = counts[form] > counts[_FORMS]
        counts[_FORMS] += new
        if prompt:
            self._unanswered.add(key)
        else:
            self.answered()
        return new

    def answered(self) -> None:
        """Note that the model replied or acted, or that the turn ended."""
        self._unanswered.clear()

    def next_turn(self) -> None:
        """Begin a turn; a prompt that has no answer yet is this turn's own, written before the mark."""
        self._counts = {key: self._counts[key] for key in self._unanswered}
