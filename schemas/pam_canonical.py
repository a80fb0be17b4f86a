"""JSON in its one canonical form, RFC 8785 (JCS): what PAM's checksum is computed over."""

import json
import math
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

MAX_EXACT: Final = 2**53 - 1
"""Beyond it integers are not exact as IEEE 754 doubles, and RFC 8785 has no form for them."""

_PLAIN_DIGITS: Final = 21
"""From 1e21 on ECMAScript writes an exponent."""
_SMALLEST_PLAIN: Final = -6
"""Below 1e-6 it does, too."""


class NotCanonicalError(ValueError):
    """A value that has no canonical form: NaN, an integer that is not exact, a lone surrogate, or too deep."""


def canonical_json(value: Any) -> bytes:
    """Serialise decoded JSON; raises `NotCanonicalError`.

    Keys sort by UTF-16 code units, numbers are written as ECMAScript writes doubles, strings escape only what JSON must
    escape.
    """
    try:
        return "".join(_pieces(value)).encode()
    except UnicodeEncodeError:
        raise NotCanonicalError("a lone surrogate has no UTF-8 form") from None
    except RecursionError:
        raise NotCanonicalError("nested too deeply") from None


def _pieces(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield "{"
        for number, key in enumerate(sorted(value, key=_utf16)):
            yield ("," if number else "") + _string(key) + ":"
            yield from _pieces(value[key])
        yield "}"
    elif isinstance(value, list | tuple):
        yield "["
        for number, item in enumerate(value):
            yield "," if number else ""
            yield from _pieces(item)
        yield "]"
    else:
        yield _scalar(value)


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return _string(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if abs(value) > MAX_EXACT:
            raise NotCanonicalError(f"{value} is no exact double")
        return str(value)
    if isinstance(value, float):
        return _double(value)
    raise NotCanonicalError(f"JSON has no {type(value).__name__}")


def _utf16(key: str) -> bytes:
    return key.encode("utf-16-be", "surrogatepass")


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)  # escapes just what RFC 8785 escapes, in the same form


def _double(value: float) -> str:
    """Write a double as ECMAScript's Number::toString does: the shortest digits that give it back."""
    if not math.isfinite(value):
        raise NotCanonicalError("JSON has no NaN and no infinity")
    if value == 0:
        return "0"
    sign, figures, exponent = Decimal(repr(value)).normalize().as_tuple()
    digits = "".join(map(str, figures))
    point = len(digits) + int(exponent)
    minus = "-" if sign else ""
    if len(digits) <= point <= _PLAIN_DIGITS:
        return minus + digits + "0" * (point - len(digits))
    if 0 < point <= _PLAIN_DIGITS:
        return f"{minus}{digits[:point]}.{digits[point:]}"
    if _SMALLEST_PLAIN < point <= 0:
        return f"{minus}0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{minus}{digits[0]}{fraction}e{point - 1:+d}"
