"""Imports finished files: each element goes the way of the stream, through the same packer and normaliser.

What is counted is exact: an event that the log or this run already has is a duplicate, whatever file it comes from.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final, cast

from adapters.catalogue import Catalogue
from adapters.contract import Reader, ReadOptions, SourceError
from adapters.files.archive import Member
from adapters.files.archive_contents import Contents
from adapters.files.archive_walk import Found
from ingest.import_files import Item, items_of, size_of
from ingest.import_lanes import PackedLane, Sink
from ingest.import_straight import LineSink, StraightLane
from ingest.processors.normalize import NormalizeProcessor
from schemas.report import FileReport

OUR_READERS: Final = "adapters."

PROGRESS_ELEMENTS: Final = 256
"""Elements between two reports of progress: often enough for a smooth bar, rare enough to cost nothing."""

UNPACKING_SHARE: Final = 0.3
"""Of the time that a packed member takes, about, as the bar shows it; reading takes the rest."""

Progress = Callable[[str, int], None]
"""Told now and then: the name of the file at hand, and how many bytes of all that was named are done."""


class Importer:
    """Reads what people name, one after another, into a sink."""

    def __init__(
        self,
        sink: Sink,
        catalogue: Catalogue,
        options: ReadOptions,
        forced: Reader | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._sink = sink
        self._catalogue = catalogue
        self._options = options
        self._forced = forced
        self._progress = progress
        self._done = 0
        self._normalize = NormalizeProcessor()

    def run(self, paths: Iterable[Path]) -> Iterator[FileReport]:
        """Import each path; gives the report of each file in it. One file's failure is in its report and costs only it.

        A folder or archive has a report of its own when there is more to tell than its members' reports say.
        """
        for path in paths:
            end = self._done + (size_of([path]) if self._progress else 0)
            for item in items_of(path, self._catalogue, self._forced):
                if report := self._item(item):
                    yield report
            self._tell(path.name, end)
            self._done = end

    def _item(self, item: Item) -> FileReport | None:
        if isinstance(item, Found):
            return self._member(item)
        if isinstance(item, Contents):
            return _contents_report(item)
        return FileReport(path=str(item.path), error=item.error)

    def _member(self, found: Found) -> FileReport:
        member = found.member
        report = FileReport(path=str(member.path), recognised_as=found.reader.name)
        try:
            with member.open(partial(self._unpacked, member)) as stream:
                self._elements(found, stream, report)
        except SourceError as error:
            report.error = str(error)
        except OSError as error:
            report.error = f"cannot be read: {error.strerror or error}"
        except Exception as error:  # noqa: BLE001 - a reader's fault is named in the report and costs only its file
            report.error = f"the reader of {report.recognised_as} failed: {type(error).__name__}: {error}"
        found.heard = report.conversations > 0
        self._done += member.packed_size
        return report

    def _elements(self, found: Found, stream: BinaryIO, report: FileReport) -> None:
        lane = self._lane(found.reader, report)
        feed = lane.feed
        try:
            for number, element in enumerate(found.reader.read(stream, found.member.path, self._options)):
                feed(element)
                if self._progress and number % PROGRESS_ELEMENTS == 0:
                    self._read(found.member, stream.tell())
        finally:  # what was heard before a file failed is not lost
            lane.flush()
            report.conversations = len(lane.threads)

    def _lane(self, reader: Reader, report: FileReport) -> PackedLane:
        # What foreign readers give is held against the types, which the packed way does by decoding.
        ours = type(reader).__module__.startswith(OUR_READERS)
        if ours and not self._sink.keeps_captured:
            return StraightLane(cast("LineSink", self._sink), self._normalize, report)
        return PackedLane(self._sink, self._normalize, report)

    def _unpacked(self, member: Member, size: int) -> None:
        self._tell(member.path.name, self._done + int(_share(member, size) * UNPACKING_SHARE))

    def _read(self, member: Member, size: int) -> None:
        packed = member.packed_size != member.size
        before = member.packed_size * UNPACKING_SHARE if packed else 0
        share = 1 - UNPACKING_SHARE if packed else 1
        self._tell(member.path.name, self._done + int(before + _share(member, size) * share))

    def _tell(self, name: str, done: int) -> None:
        if self._progress:
            self._progress(name, done)


def _contents_report(contents: Contents) -> FileReport | None:
    if not (contents.error or contents.warnings or contents.passed_over):
        return None
    return FileReport(
        path=str(contents.path),
        recognised_as=contents.kind if contents.recognised else None,
        warnings=[f"{contents.path}: {warning}" for warning in contents.warnings],
        passed_over=dict(contents.passed_over),
        error=contents.error,
    )


def _share(member: Member, size: int) -> float:
    """How much of a member's packed bytes so many unpacked ones stand for."""
    return member.packed_size * min(1.0, size / member.size) if member.size else 0.0
