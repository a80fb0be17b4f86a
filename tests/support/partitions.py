"""A log in memory with several partitions and holes in its offsets, as Kafka has them, for tests of who reads one."""

from collections.abc import Sequence

from ingest.log.contract import EventLog, NewRecord, Record, Topic


class PartitionedLog(EventLog):
    """Each append takes one offset more than it has records, as the mark of a transaction's end does."""

    def __init__(self, partitions: int = 3, time_ms: int = 1_773_489_600_000) -> None:
        self._partitions = partitions
        self._records: dict[tuple[Topic, int], list[Record]] = {}
        self._ends: dict[tuple[Topic, int], int] = {}
        self.now = time_ms

    def append(self, records: Sequence[NewRecord]) -> None:
        places = set()
        for record in records:
            place = record.topic, sum(record.key.encode()) % self._partitions
            places.add(place)
            self._ends[place] = self._ends.get(place, 0) + 1
            made = Record(record.topic, self._ends[place], record.key, record.value, self.now, place[1])
            self._records.setdefault(place, []).append(made)
        for place in places:
            self._ends[place] += 1
        self.now += 1

    def partitions(self, topic: Topic) -> int:
        return self._partitions

    def read(self, topic: Topic, after: int, limit: int, max_bytes: int, partition: int = 0) -> list[Record]:
        found, size = [], 0
        for record in self._records.get((topic, partition), []):
            if record.offset > after and len(found) < limit:
                size += len(record.value)
                if found and size > max_bytes:
                    break
                found.append(record)
        return found

    def end_offset(self, topic: Topic, partition: int = 0) -> int:
        return self._ends.get((topic, partition), 0)

    def close(self) -> None:
        pass
