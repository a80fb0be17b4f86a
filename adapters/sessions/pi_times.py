"""The raw times of entries that are passed on; what they mean is for the normaliser to say."""

from adapters.sessions.pi_shapes import Entry, Message
from adapters.sessions.values import raw_time
from schemas.captured import RawTime


def times_of(entry: Entry, message: Message | None) -> list[RawTime]:
    """Give an entry's own times, best first: when it was written, then when it was said."""
    first = raw_time(entry.timestamp)
    second = None if message is None else raw_time(message.timestamp)
    return [time for time in (first, second) if time is not None]
