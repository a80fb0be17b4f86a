"""Who an entry is: what stays equal when a pi session is read again, migrated, forked or exported.

UUIDv5 over `pi`, entry time, message time, canonical kind, block and the content-bearing fields, and for all but the
first of equals over that and the occurrence number. Entry ids, parents, session ids and cwd are left out: a migration
re-makes them, a fork re-chains them. The content goes into the id's own hash, one instead of two: ids keep honest
things apart, nobody is kept out by them. Source: section 2.10 of the format page; B4, B6, B8, E36, E37.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

from schemas.ids import Part

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_MS: Final = -62_135_596_800_000
LAST_MS: Final = 253_402_300_799_999
"""The years 1 to 9999, which ISO 8601 text can hold."""


def entry_time(raw: object) -> Part:
    """Give an entry's time in the one form that identity knows: ISO text with milliseconds, as versions 1 to 3 write.

    Version 4 writes milliseconds since 1970 instead, and a migration turns one into the other. Anything else stands as
    it is; what is no time is None. (What a time means is for the normaliser to say; here it only has to be equal.)
    """
    if type(raw) is str:
        return raw
    if type(raw) is float and raw.is_integer():
        raw = int(raw)
    if type(raw) is int and FIRST_MS <= raw <= LAST_MS:
        return (_EPOCH + timedelta(milliseconds=raw)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return str(raw) if type(raw) in {int, float} else None


def message_time(raw: object) -> Part:
    """Give a message's time for identity: all versions write milliseconds since 1970, copies keep them."""
    if type(raw) is int and FIRST_MS <= raw <= LAST_MS:
        return raw
    return entry_time(raw)
