"""The store of branch summaries: what earlier runs saw, kept beside the workspace when the operator names a file.

Source: formats/session-triage-origin.md 1.4. Unlike the origin nothing is written unless a path is given, the file is
replaced whole, and a store that cannot be read is kept aside, never overwritten.
"""

import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import msgspec

from ingest.processors.times import to_iso
from triage.report.model import SummaryEntry

STORE_VERSION: Final = 1
RETENTION_DAYS: Final = 30
MAX_ENTRIES: Final = 500
MAX_STORE_BYTES: Final = 64 * 1024 * 1024
"""500 summaries take a few hundred KB; what is larger by this much is another file."""


class StoreError(Exception):
    """The store cannot be read or written; the message says why."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a store holds; `broken` says why it could not be read."""

    entries: list[SummaryEntry]
    broken: str | None = None


def load(path: Path) -> Loaded:
    """Read a store; one that is not there is empty. Raises `StoreError` when it is there and cannot be opened."""
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_STORE_BYTES + 1)
        value = msgspec.json.decode(raw) if len(raw) <= MAX_STORE_BYTES else None
    except FileNotFoundError:
        return Loaded([])
    except OSError as error:
        raise StoreError(error.strerror or str(error)) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return Loaded([], str(error))
    entries = value.get("entries") if isinstance(value, dict) else None
    if not isinstance(entries, list):
        return Loaded([], "it has no list of entries")
    return Loaded([entry for item in entries if (entry := _entry(item))])


def merge(stored: Iterable[SummaryEntry], seen: Iterable[SummaryEntry]) -> list[SummaryEntry]:
    """Put entries together: those that leave the same open are one, the newest; newest first."""
    newest: dict[tuple[tuple[str, ...], ...], SummaryEntry] = {}
    for entry in (*stored, *seen):
        key = tuple(tuple(sorted(i.lower() for i in p)) for p in (entry.next_steps, entry.in_progress, entry.blocked))
        if key not in newest or entry.seen_at >= newest[key].seen_at:
            newest[key] = entry
    return sorted(newest.values(), key=lambda entry: (entry.seen_at, entry.source), reverse=True)


def save(path: Path, entries: Iterable[SummaryEntry], now: datetime) -> None:
    """Replace the store by the entries of the last `RETENTION_DAYS`, at most `MAX_ENTRIES`; raises `StoreError`."""
    cutoff = _iso(now - timedelta(days=RETENTION_DAYS))
    store = {
        "version": STORE_VERSION,
        "updatedAt": _iso(now),
        "retentionDays": RETENTION_DAYS,
        "entries": [entry for entry in entries if entry.seen_at >= cutoff][:MAX_ENTRIES],
    }
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, msgspec.json.format(msgspec.json.encode(store), indent=2) + b"\n")
    except OSError as error:
        raise StoreError(error.strerror or str(error)) from error


def set_aside(path: Path, now: datetime) -> Path:
    """Rename a store that cannot be read, so that nothing of it is lost; raises `StoreError`."""
    kept = path.with_name(f"{path.name}.broken-{now:%Y%m%dT%H%M%S%f}")
    try:
        path.rename(kept)
    except OSError as error:
        raise StoreError(error.strerror or str(error)) from error
    return kept


def _replace(path: Path, content: bytes) -> None:
    """Write beside, sync, rename, sync the folder: after a power cut there is the old store or the new one."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _entry(item: Any) -> SummaryEntry | None:
    if not isinstance(item, dict):
        return None
    return SummaryEntry(
        next_steps=unique(item.get("nextSteps")),
        in_progress=unique(item.get("inProgress")),
        blocked=unique(item.get("blocked")),
        source=item["source"] if isinstance(item.get("source"), str) and item["source"].strip() else "unknown",
        seen_at=to_iso(item.get("seenAt")) or "",
    )


def unique(items: object) -> list[str]:
    """Give the texts of a list once each, whatever their case, in order."""
    kept: dict[str, str] = {}
    for item in items if isinstance(items, list) else ():
        if isinstance(item, str) and (text := item.strip()):
            kept.setdefault(text.lower(), text)
    return list(kept.values())


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
