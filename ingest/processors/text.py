"""Plain text: terminal sequences and control characters leave, words stay.

Removed are ANSI sequences and C0 controls except newline and tab; CRLF and lone CR become newlines; lone surrogates
become U+FFFD. Kept are bidirectional marks, combining characters, U+0085, U+2028, U+2029 and private use. Source:
B21, B40, E25 of the session formats; sequences as in ECMA-48.
"""

import re
from typing import Final

_C0: Final = bytes(c for c in range(32) if c not in b"\t\n") + b"\x7f"

# The eight-bit forms that a terminal obeys: DCS, SOS, CSI, OSC, PM, APC. The other C1 characters are mostly
# Windows-1252 read as Latin-1, whose words would suffer.
_C1_INTRODUCERS: Final = "\x90\x98\x9b\x9d\x9e\x9f"

_BACKSLASH, _DELETE, _C1_LEAD = b"\\\x7f\xc2"
_ESCAPED: Final = re.compile(rb"\\[^\\\"nt]")

_UNWANTED: Final = re.compile(
    r"\r\n?"
    # A control string with its end; the payload has no newline, so that a torn one costs a line at most.
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n\r\x90\x98\x9b\x9d-\x9f]*(?:\x07|\x1b\\|\x9c)"
    r"|\x1b\[[0-?]*[ -/]*[@-~]?"
    # An eight-bit CSI must have parameters: alone it is a quotation mark that was decoded wrongly.
    r"|\x9b[0-?]+[ -/]*[@-~]"
    r"|\x1b[!-/]*[0-~]?"
    r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x90\x98\x9b\x9d-\x9f]"
    r"|[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]"
)


def clean(text: str) -> str:
    """Give the text without what only a terminal reads; clean text is given back as it is."""
    return text if is_clean(text) else _UNWANTED.sub(_replacement, text)


def is_clean(text: str) -> bool:
    """Whether `clean` has nothing to do."""
    # bytes.translate looks at each byte once in a table: four times the speed of a character class in `re`.
    if text.isascii():
        return len(text.encode().translate(None, _C0)) == len(text)
    try:
        encoded = text.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return False
    if len(encoded.translate(None, _C0)) != len(encoded):
        return False
    # In UTF-8 all of them begin with C2, which few texts hold at all.
    return b"\xc2" not in encoded or not any(introducer in text for introducer in _C1_INTRODUCERS)


def may_be_unclean(encoded: bytes) -> bool:
    """Whether `clean` may find something in texts, by their JSON as msgspec writes it: a third of `is_clean`'s cost."""
    # All C0 are escaped there, newline and tab by a letter. A single byte is looked for twenty times as fast as a
    # pattern.
    return _DELETE in encoded or _C1_LEAD in encoded or (_BACKSLASH in encoded and _ESCAPED.search(encoded) is not None)


def clean_line(text: str) -> str:
    """Give the text as one clean line, for titles and names."""
    return text if text.isprintable() and text == text.strip() else " ".join(clean(text).split())


def shorten(text: str, limit: int) -> str:
    """Give the text as one line of at most `limit` characters, the last one `…` where something was cut."""
    # Slicing first bounds the work on texts of megabytes; twice the limit leaves room for runs of white space.
    line = " ".join(text[: limit * 2].split())
    return line if len(line) <= limit and len(text) <= limit * 2 else line[: limit - 1].rstrip() + "…"


def _replacement(match: re.Match[str]) -> str:
    found = match[0]
    if found[0] == "\r":
        return "\n"
    if "\ud800" <= found[0] <= "\udfff":
        return _surrogates(found)
    return ""


def _surrogates(found: str) -> str:
    # Two that belong together are one character that somebody decoded by halves.
    return found.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if len(found) > 1 else "\ufffd"
