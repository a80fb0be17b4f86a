"""Decoding lines of JSON that others wrote: the one home of what is forgiven in them.

The fast road is msgspec alone. What it refuses takes a slow road that forgives, and the two agree: whatever both can
read they read as equal values, so ids do not depend on the road. Source: B1, B21, B23, E18, E19, E20.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, TypeVar

import msgspec

Reason = Literal["invalid-json", "too-deep", "not-an-object"]

MAX_INT_DIGITS: Final = 4300
"""CPython's own limit for text to integer, above which the time is quadratic; msgspec keeps to it too."""

MAX_PIECES: Final = 1000
"""Most objects taken from either end of one line: a splice joins two records, seldom three."""

MAX_BACK_TOKENS: Final = 1_000_000
"""Quotes and braces looked at from a line's end, about 0.3 s: a whole entry of 10 MB of source code has fewer."""

_FIRST_CHUNK: Final = 1024
_LAST_CHUNK: Final = 64 * 1024
_WHITE: Final = b" \t\r\n"
_TOKEN: Final = re.compile(rb'["{}]')
_NO_SPACE: Final = re.compile(rb"[^ \t\r\n]")
_QUOTE, _CLOSING, _BACKSLASH = b'"}\\'
# Escapes one after another, so that `\\ud800` (a backslash, then letters) is not taken for a surrogate.
_ESCAPE: Final = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)

# CESU-8: a character beyond U+FFFF as two surrogates of three bytes each, as Java and MySQL write it.
_SURROGATE_BYTES: Final = re.compile(
    rb"\xed[\xa0-\xaf][\x80-\xbf]\xed[\xb0-\xbf][\x80-\xbf]|\xed[\xa0-\xbf][\x80-\xbf]"
)

T = TypeVar("T")


class BadLine(ValueError):  # noqa: N818 - names the thing, as `Rejected` does, and is caught as a value
    """A line that cannot be decoded; `reason` is of a closed set, the message is the parser's."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason: Reason = reason


class LineDecoder(Generic[T]):
    """Decodes lines into a type of msgspec whose members take any JSON value, so that only the shape can be wrong."""

    def __init__(self, shape: Any) -> None:
        self._shape = shape
        self._decode: Callable[[bytes], T] = msgspec.json.Decoder(shape).decode

    def decode(self, raw: bytes) -> T:
        """Decode one line, without its newline; raises `BadLine`, and nothing else on any bytes.

        Surrogates that are encoded one by one (CESU-8) are joined; invalid UTF-8 and lone ones become U+FFFD, raw
        control characters stand in strings, of equal keys the last wins, numbers that JSON cannot hold (NaN, 1e999)
        become None as JavaScript writes them. Integers of more than 64 bits stay integers: encode them with
        `compact_json`.
        """
        try:
            return self._decode(raw)
        except RecursionError as error:
            raise BadLine("too-deep", str(error)) from None
        except msgspec.DecodeError:
            value = _forgiving(raw)
        try:
            converted: T = msgspec.convert(value, self._shape)
        except msgspec.ValidationError as error:
            raise BadLine("not-an-object", str(error)) from None
        return converted


_untyped: Final = LineDecoder[object](Any)


def decode_line(raw: bytes) -> object:
    """Decode one line into dicts, lists and scalars, as `LineDecoder.decode` does; raises `BadLine`."""
    return _untyped.decode(raw)


def _forgiving(raw: bytes) -> object:
    text = _SURROGATE_BYTES.sub(_join, raw).decode("utf-8", "replace").removeprefix("\ufeff")
    if "\\ud" in text or "\\uD" in text:
        text = _ESCAPE.sub(_mend, text)
    try:
        return json.loads(text, strict=False, parse_int=_integer, parse_float=_number, parse_constant=_nothing)
    except RecursionError as error:
        raise BadLine("too-deep", str(error)) from None
    except json.JSONDecodeError as error:
        raise BadLine("invalid-json", f"{error.msg}: character {error.pos}") from None


def _join(found: re.Match[bytes]) -> bytes:
    halves = found[0].decode("utf-8", "surrogatepass")
    return halves.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _mend(escape: re.Match[str]) -> str:
    return "\\ufffd" if escape[1] else escape[0]


def _integer(digits: str) -> int | None:
    return int(digits) if len(digits) <= MAX_INT_DIGITS else None


def _number(digits: str) -> float | None:
    value = float(digits)
    return value if abs(value) != float("inf") else None


def _nothing(_: str) -> None:
    return None


_sorted: Final = msgspec.json.Encoder(order="sorted").encode


def compact_json(value: object) -> str:
    """Write a decoded value as JSON without spaces and with sorted keys: equal values give equal texts.

    Raises `RecursionError` when the value is too deep for the stack that is left.
    """
    try:
        return _sorted(value).decode()
    except OverflowError:  # an integer of more than 64 bits
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Whole(Generic[T]):
    """A whole object of a glued line, and the bytes `start` to `end` of the line that hold it."""

    start: int
    end: int
    value: T


@dataclass(frozen=True, slots=True)
class Fragment:
    """Bytes `start` to `end` of a glued line that belong to no whole object."""

    start: int
    end: int
    reason: Reason = "invalid-json"


# Only where an object ends is asked here, so numbers need not be made.
_scan: Final = json.JSONDecoder(
    strict=False, parse_int=_nothing, parse_float=_nothing, parse_constant=_nothing
).raw_decode


def split_glued(raw: bytes, whole: Callable[[bytes], T | None]) -> list[Whole[T] | Fragment]:
    """Recover the objects of a line that `decode_line` refuses, in order, with at most one fragment between them.

    `whole` gives what an object's bytes mean, or None when they are no entry of their own: the nested block that a
    torn entry may end or begin with. Objects are taken from the front as long as they stand one after another, then
    from the end, where each is found by matching braces backwards: one attempt, not one for each brace. Time is
    linear in the line, within `MAX_PIECES` and `MAX_BACK_TOKENS`.
    """
    front, low = _from_front(raw, whole)
    back, high = _from_back(raw, low, whole)
    middle: list[Whole[T] | Fragment] = [Fragment(low, high)] if raw[low:high].strip(_WHITE) else []
    return [*front, *middle, *back]


def _from_front(raw: bytes, whole: Callable[[bytes], T | None]) -> tuple[list[Whole[T]], int]:
    text = raw.decode("latin-1")  # a character a byte: structure is ASCII, and places are bytes
    found: list[Whole[T]] = []
    place = 0
    while len(found) < MAX_PIECES:
        first = _NO_SPACE.search(raw, place)
        if first is None or first[0] != b"{":
            break
        start = first.start()
        try:
            end = _scan(text, start)[1]
        except (json.JSONDecodeError, RecursionError):
            break
        value = whole(raw[start:end])
        if value is None:
            break
        found.append(Whole(start, end, value))
        place = end
    return found, place


def _from_back(raw: bytes, low: int, whole: Callable[[bytes], T | None]) -> tuple[list[Whole[T]], int]:
    found: list[Whole[T]] = []
    place, budget = len(raw), MAX_BACK_TOKENS
    while len(found) < MAX_PIECES:
        tail = raw[max(low, place - _LAST_CHUNK) : place]
        end = place - len(tail) + len(tail.rstrip(_WHITE))
        start, budget = _start_of_object(raw, low, end, budget)
        value = None if start is None else whole(raw[start:end])
        if start is None or value is None:
            break
        found.append(Whole(start, end, value))
        place = start
    return found[::-1], place


def _start_of_object(raw: bytes, low: int, end: int, budget: int) -> tuple[int | None, int]:
    """Find the brace that opens the object whose last byte stands before `end`, and what is left of the budget."""
    if end <= low or raw[end - 1 : end] != b"}":
        return None, budget
    depth, quoted, chunk_end, chunk = 0, False, end, _FIRST_CHUNK
    while chunk_end > low:
        chunk_start = max(low, chunk_end - chunk)
        places = [token.start() for token in _TOKEN.finditer(raw, chunk_start, chunk_end)]
        budget -= len(places)
        if budget < 0:
            return None, 0
        for place in reversed(places):
            byte = raw[place]
            if byte == _QUOTE:
                quoted ^= not _escaped(raw, place, low)
            elif not quoted:
                depth += 1 if byte == _CLOSING else -1
                if depth == 0:
                    return place, budget
        chunk_end, chunk = chunk_start, min(2 * chunk, _LAST_CHUNK)
    return None, budget


def _escaped(raw: bytes, place: int, low: int) -> bool:
    """Whether an odd number of backslashes stands before the quote."""
    first = place
    while first > low and raw[first - 1] == _BACKSLASH:
        first -= 1
    return (place - first) % 2 == 1
