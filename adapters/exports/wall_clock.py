"""Times as the clock of a device showed them, in the order in which they were written down."""

from datetime import UTC, datetime
from typing import Final

from adapters.exports.local_time import Clock, LocalTime

LONGEST_STEP_S: Final = 3600
"""Clocks are put back by an hour, hardly ever more; what steps back further is out of order, and no hour again."""


class WallClock:
    """Puts local times into the zone a person named, telling the two passes of a repeated hour apart by order.

    Raises `PermanentSourceError` when there is no such zone.
    """

    def __init__(self, zone: str | None) -> None:
        self._clock = Clock(zone)
        self._shown: datetime | None = None  # by the clock, for the last time
        self._last: datetime | None = None  # what that was in UTC, once the clock has gone backwards

    def place(self, local: datetime) -> tuple[str, list[str]]:
        """Give ISO text with an offset, and the labels it needs."""
        iso, labels = self._clock.place(LocalTime(local, ""))
        before, self._shown = self._shown, local
        if before is None or (self._last is None and local >= before):
            return iso, labels
        last = self._last or _moment(self._clock.place(LocalTime(before, ""))[0])
        moment = _moment(iso)
        if 0 < (last - moment).total_seconds() <= LONGEST_STEP_S:
            again, _ = self._clock.place(LocalTime(local.replace(fold=1), ""))
            if _moment(again) >= last:
                iso, moment = again, _moment(again)
        self._last = moment
        return iso, labels

    def place_text(self, raw: object) -> tuple[str | None, list[str]]:
        """Do the same for ISO text, which may have an offset of its own; what is no ISO text gives no time."""
        if not isinstance(raw, str):
            return None, []
        try:
            parsed = datetime.fromisoformat(raw.strip())
        except ValueError:
            return None, []
        return (raw, []) if parsed.tzinfo else self.place(parsed)


def _moment(iso: str) -> datetime:
    try:
        return datetime.fromisoformat(iso).astimezone(UTC)
    except OverflowError:  # the first or last day that datetime knows
        return datetime.fromisoformat(iso).replace(tzinfo=UTC)
