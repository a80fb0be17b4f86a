"""What a text asks of the one who reads it: pure rules, tables in `triage.report.asking_phrases`.

An ask stands in the closing paragraph, the last one that is not a list or a sign-off (lists after it belong to it).
Code, quoted lines and addresses say nothing. It is an approval when a phrase asks for leave or says that it waits, a
question when a sentence ends in a question mark. Courtesies ("anything else?") and questions that their own paragraph
answers ("Why? Because …") ask nothing.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

from ingest.processors.fences import without_fences
from triage.report import asking_phrases as phrases
from triage.report.words import one_line, quote

AskKind = Literal["approval", "question"]

MAX_LOOKED_AT: Final = 6000
"""Only the end of a text is looked at: the closing paragraph of what a person can read in one go lies there."""

_SHORT: Final = 48
"""A shorter ask ("Shall I proceed?") is quoted with the sentence before it, which says what it is about."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What is asked, in the asker's own words."""

    kind: AskKind
    words: str


def last_words(text: str) -> str:
    """Give the end of a text that `find_ask` looks at; a long one loses its code first, lest a fence be cut in two."""
    return text if len(text) <= MAX_LOOKED_AT else without_fences(text)[-MAX_LOOKED_AT:]


def find_ask(text: str) -> Ask | None:
    """Find what a text asks in its end; None when it asks nothing that waits for an answer."""
    masked, hidden = _mask(last_words(text))
    before, lines = _closing(masked)
    sentences = [s for line in lines for s in _sentences(line)]
    kinds = [_kind(s, following) for s, following in pairwise([*sentences, ""])]
    kind: AskKind = "approval" if "approval" in kinds else "question"
    asking = [number for number, k in enumerate(kinds) if k == kind]
    if not asking:
        return None
    words = " ".join(sentences[number] for number in asking)
    if len(words) < _SHORT:
        words = " ".join([*[*before, *sentences[: asking[0]]][-1:], words])
    return Ask(kind, quote(_unmask(words, hidden)))


def ask_tool(name: str) -> AskKind | None:
    """Say whether a tool of this name asks its operator something, and what kind."""
    plain = re.sub(r"[^a-z]", "", name.rpartition("__")[2].lower())
    if plain in phrases.APPROVAL_TOOLS:
        return "approval"
    return "question" if plain in phrases.ASK_TOOLS else None


def _either(patterns: Iterable[str]) -> str:
    return "|".join(f"(?:{p})" for p in patterns)


_ASK_FIRST: Final = re.compile(_either(phrases.ASK_FIRST))
_WAITING: Final = re.compile(_either(phrases.WAITING))
_COURTESY: Final = re.compile(_either(phrases.COURTESIES))
_SIGN_OFF: Final = re.compile(rf"(?:{_either(phrases.SIGN_OFFS)})[\s!.,]*(?:\w+[\s!.,]+){{0,3}}\w*[\s!.,]*")
_OWN_ANSWER: Final = re.compile(_either(phrases.OWN_ANSWERS))
_REFUSED: Final = re.compile(_either(phrases.REFUSALS))

_INLINE_CODE: Final = re.compile(r"(`{1,3})[^`\n]+\1")
_ADDRESS: Final = re.compile(r"\b(?:[a-z][a-z0-9+.-]{1,15}://|www\.)\S*[^\s?!.,;:)\]\"'>]", re.IGNORECASE)
_FIRST_MASK: Final = 0xE000
_MAX_HIDDEN: Final = 6400
_MASKS: Final = re.compile(r"[\ue000-\uf8ff]")
"""The private use area of the Basic Multilingual Plane: 6,400 characters that no language needs."""

_QUOTED: Final = re.compile(r"(?m)^[ \t]*>.*$")
_BULLET: Final = r"(?:[-*+•]|\(?(?:\d{1,2}|[A-Ha-h])[.)])\s+"
_ITEM: Final = re.compile(rf"\s*{_BULLET}\S")
_MARKER: Final = re.compile(rf"^\s*(?:{_BULLET}|#{{1,6}}\s+)+")
_MARKS: Final = "?\uff1f\u061f"
"""Question marks: Western, full-width, Arabic."""

_CLOSERS: Final = "\"'\u201d\u2019\u00bb)\\]*_"
_SENTENCE_END: Final = re.compile(
    rf"(?<=\S[.!\u2026{_MARKS}])[{_CLOSERS}]*\s+"
    # French has a space before the mark; so has code, which goes on in lower case.
    rf"|(?<=\s[!{_MARKS}])[{_CLOSERS}]*\s+(?![a-zà-ÿ])"
    r"|(?<=[\uff1f\u3002\uff01])"
)
_CHOICE: Final = re.compile(
    r"(?:what|which|how|when|where|who|why|qual|quais|como|quando|onde|quem|cu[aá]l|qué|cómo|dónde|quién"
    r"|was|welche\w*|wie|wann|wo|wer|quel\w*|comment|quand|où|qui)\b"
)
"""How a question begins that wants more than a yes."""

_AFTER_MARK: Final = re.compile(rf"[{_CLOSERS}~\s!\U0001f300-\U0001faff\u2600-\u27bf\ufe0f\u200d]*")
_OPENING: Final = re.compile(r"[^\w¿(\[]*(?:(?:so|ok|okay|now|and|but|then|also|next|então|entonces|alors)[,:]?\s+)?")
_LETTER: Final = re.compile(r"\w")


def _mask(text: str) -> tuple[str, list[str]]:
    """Put one private-use character in place of each piece of inline code and each address; fences and quotes go."""
    hidden: list[str] = []

    def hide(found: re.Match[str]) -> str:
        if len(hidden) >= _MAX_HIDDEN:
            return " "
        hidden.append(found.group())
        return chr(_FIRST_MASK + len(hidden) - 1)

    text = _QUOTED.sub("", without_fences(_MASKS.sub("", text)))
    return _ADDRESS.sub(hide, _INLINE_CODE.sub(hide, text)), hidden


def _unmask(text: str, hidden: list[str]) -> str:
    return _MASKS.sub(lambda found: hidden[ord(found.group()) - _FIRST_MASK], text)


def _closing(text: str) -> tuple[list[str], list[str]]:
    """Give the last sentence before the closing paragraph, and the lines of it and of the lists after it."""
    paragraphs = [p for p in re.split(r"\n\s*\n", text.strip()) if _LETTER.search(p)]
    while len(paragraphs) > 1 and _SIGN_OFF.fullmatch(one_line(paragraphs[-1]).lower()):
        paragraphs.pop()
    lines: list[str] = []
    while paragraphs:
        own = paragraphs.pop().splitlines()
        lines = own + lines
        if not all(_ITEM.match(line) for line in own if line.strip()):
            break
    before = [s for line in _joined(paragraphs[-1].splitlines()) for s in _sentences(line)] if paragraphs else []
    return before[-1:], _joined(lines)


def _joined(lines: list[str]) -> list[str]:
    """Join the wrapped lines of a sentence; an item or a heading begins anew."""
    joined: list[str] = []
    for line in lines:
        fresh = not joined or _ITEM.match(line) or line.lstrip().startswith("#") or _is_question(joined[-1])
        if fresh:
            joined.append(line.strip())
        else:
            joined[-1] += " " + line.strip()
    return [line for line in joined if line]


def _sentences(line: str) -> list[str]:
    line = _MARKER.sub("", line)
    return [s for part in _SENTENCE_END.split(line) if _LETTER.search(s := one_line(part))]


def _is_question(sentence: str) -> bool:
    """Whether a sentence ends in a question mark; quotes, brackets, emphasis and emoji may follow it."""
    mark = max(map(sentence.rfind, _MARKS))
    return mark >= 0 and _AFTER_MARK.fullmatch(sentence, mark + 1) is not None


def _kind(sentence: str, following: str) -> AskKind | None:
    """Say what one sentence asks, given the one that follows it."""
    plain = _plain(sentence)
    asks, demands = _is_question(sentence), _demands(plain)
    if _COURTESY.search(plain) and not demands:
        return None
    if asks and _OWN_ANSWER.match(_plain(following)):
        return None
    if demands or (not _CHOICE.match(plain) and _asks_leave(plain, asks=asks)):
        return "approval"
    return "question" if asks else None


def _plain(sentence: str) -> str:
    """Give a sentence as the tables expect it: lower case, straight apostrophes, without what only opens it."""
    lowered = sentence.lower().replace("\u2019", "'")
    opening = _OPENING.match(lowered)
    return lowered[opening.end() :] if opening else lowered


def _demands(plain: str) -> bool:
    found = _WAITING.search(plain)
    return found is not None and not _REFUSED.search(plain[: found.start()])


def _asks_leave(plain: str, *, asks: bool) -> bool:
    """Whether a phrase asks for leave: anywhere in a question, or where it opens words that have no end at all."""
    if asks:
        return _ASK_FIRST.search(plain) is not None
    return _ASK_FIRST.match(plain) is not None and not plain.rstrip().endswith((".", "!", "\u2026", ":", ";"))
