"""How rejections look: as JSON for scripts, and for people, with nothing in them that a terminal would obey."""

from collections.abc import Mapping
from typing import Final, Self

from msgspec import Struct
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ingest.commands.operations.places import place_text
from ingest.commands.operations.printable import visible, visible_bytes, visible_line
from ingest.processors.times import from_ms
from ingest.rejections import Rejection
from schemas.captured import Origin

_WHERE_CHARS: Final = 200
_DETAIL_CHARS: Final = 120
"""Of a line in a list; `show` has all of it."""


class Entry(Struct, rename="camel", omit_defaults=True):
    """One rejection. `place` is what `show` and `retry` take; `sample` holds the bytes kept, Base64 in JSON."""

    place: str
    at: str
    stage: str
    source: str
    reason: str
    where: str
    detail: str
    size_bytes: int
    origin: Origin | None = None
    sample: bytes | None = None
    sample_text: str | None = None
    """The sample as text, with escapes for what is no text."""


class ReasonCount(Struct, rename="camel"):
    """How many rejections there are for one reason."""

    stage: str
    reason: str
    count: int


class Listing(Struct, rename="camel"):
    """What `rejected list` tells: counts over all that are wanted, and the last of them."""

    total: int
    reasons: list[ReasonCount]
    last: list[Entry]

    @classmethod
    def of(cls, counts: Mapping[tuple[str, str], int], last: list[Entry]) -> Self:
        """Order the reasons by how often they were given."""
        ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
        return cls(sum(counts.values()), [ReasonCount(*kind, count) for kind, count in ordered], last)


def entry_of(rejection: Rejection, partitions: int, *, sample: bool = False) -> Entry:
    """Give what is told of a rejection; `sample` adds the bytes that are kept of it."""
    record, bad = rejection.record, rejection.bad
    return Entry(
        place=place_text(record.partition, record.offset, partitions),
        at=from_ms(record.time_ms),
        stage=bad.stage,
        source=bad.source,
        reason=bad.reason,
        where=bad.where,
        detail=bad.detail,
        size_bytes=bad.size_bytes,
        origin=bad.origin,
        sample=bad.sample if sample else None,
        sample_text=visible_bytes(bad.sample) if sample else None,
    )


def render(listing: Listing, console: Console) -> None:
    """Print the counts and the last rejections, newest last."""
    if not listing.total:
        console.print("Nothing was rejected.")
        return
    console.print(_reasons(listing), "")
    if len(listing.last) < listing.total:
        console.print(f"The last {len(listing.last):,} of {listing.total:,}:")
    for entry in listing.last:
        line = f"{entry.place}  {entry.at}  {visible_line(entry.source)}  {visible_line(entry.reason)}"
        console.print(Text(line), soft_wrap=True)
        detail = f" · {visible_line(entry.detail, _DETAIL_CHARS)}" if entry.detail else ""
        console.print(Text(f"    {visible_line(entry.where, _WHERE_CHARS)}{detail}"), soft_wrap=True)


def _reasons(listing: Listing) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("reason")
    table.add_column("stage", no_wrap=True)
    table.add_column("rejected", justify="right", no_wrap=True)
    for found in listing.reasons:
        table.add_row(Text(visible_line(found.reason)), found.stage, f"{found.count:,}")
    return table


def render_one(entry: Entry, console: Console) -> None:
    """Print everything about one rejection, and the bytes that are kept of it as text."""
    rows = [("place", entry.place), ("rejected", entry.at), ("stage", entry.stage), ("source", entry.source)]
    rows += [("reason", entry.reason), ("where", entry.where), ("detail", entry.detail)]
    if origin := entry.origin:
        rows.append(("comes from", f"{origin.topic} {origin.offset} in partition {origin.partition}"))
    kept = len(entry.sample or b"")
    rows.append(("size", f"{entry.size_bytes:,} bytes" + (f", {kept:,} kept" if kept < entry.size_bytes else "")))
    for name, value in rows:
        if value:
            console.print(Text(f"{name:<10}  {visible(value)}"), soft_wrap=True)
    if entry.sample_text:
        console.print()
        console.print(Text(entry.sample_text), soft_wrap=True)
