"""Promise: the three steps fit together, from what was captured to signals and summaries."""

from datetime import timedelta

from ingest.log.contract import NewRecord, Record, Topic
from ingest.processors.chain import processors
from schemas.event import decode
from tests.support.processors import NOON_MS, MemoryState, captured, captured_records, record_of


def test_each_step_reads_what_the_step_before_it_writes() -> None:
    """Run as a runner runs them: each with its own state, outputs appended to their topics."""
    record = record_of(
        captured("[COLONY_SIGNAL:DONE] [c1] all", role="assistant"),
        captured("[COLONY_SIGNAL:DONE] [c1] all", role="assistant"),
        captured("429", type="status", role="assistant", labels=["error"]),
    )
    topics: dict[Topic, list[Record]] = {topic: [] for topic in Topic}
    topics[Topic.CAPTURED] = captured_records([record])

    def append(outputs: list[NewRecord]) -> None:
        for output in outputs:
            log = topics[output.topic]
            log.append(Record(output.topic, len(log) + 1, output.key, output.value, NOON_MS))

    for step in processors(timedelta(hours=1)):
        state = MemoryState()
        append(step.process(topics[step.input], state))
        append(step.tick(NOON_MS + 2 * 60 * 60 * 1000, state))
    written = (Topic.EVENTS, Topic.SIGNALS, Topic.SUMMARIES, Topic.REJECTED)
    assert [len(topics[topic]) for topic in written] == [2, 2, 1, 0]
    assert decode(topics[Topic.SUMMARIES][0].value).event.labels == ["idle-summary"]
