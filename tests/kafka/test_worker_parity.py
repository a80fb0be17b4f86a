"""The same input gives equal sets of events, signals and summaries on both engines."""

import asyncio
import random
from collections import Counter
from datetime import timedelta

import msgspec

from ingest.health import Health
from ingest.log.contract import NewRecord, Topic
from ingest.log.embedded import EmbeddedLog
from ingest.metrics import Metrics
from ingest.processors.chain import processors
from ingest.streams.embedded import EmbeddedRunner
from ingest.streams.faust.shelf import Shelf
from ingest.streams.faust.stores import MemoryStore
from ingest.streams.faust.workers import Workers
from schemas.captured import RejectedRecord, encode_record
from tests.support.processors import captured, record_of
from tests.support.worker import Capturer, declare, in_loop, settings_of
from tests.support.worker_outcome import read_all

FAR = 4_102_444_800_000
"""A clock in 2100: every thread is idle."""

IDLE = timedelta(hours=6)

TEXTS = (
    "just words",
    "[COLONY_SIGNAL:DONE] 🐜 [c1|colony-abc] ✅ finished",
    "I am blocked: no access",
    "sh: 1: foo: not found",
    "TASK-1 and #42 follow",
    "\x1b[31mred\x1b[0m",
    "   ",
    "Do you want me to go on?",
    "## Next steps\n- write it\n\n## Blocked\n- on you",
    "long " * 5_000,
)


def corpus():
    """Records of forty threads: all types and roles, repeated and conflicting events, and some that are none."""
    dice = random.Random(11)
    records = []
    for number in range(600):
        thread = f"thread-{dice.randrange(40)}"
        events = [one_event(dice, number) for _ in range(dice.randint(1, 6))]
        record = record_of(*events, thread_id=thread, title=dice.choice([None, "A title"]))
        value = encode_record(record)
        if number % 97 == 0:
            value = value[: len(value) // 2]
        if number % 89 == 0:
            value = value.replace(b'"role":"user"', b'"role":7')
        records.append(NewRecord(Topic.CAPTURED, f"pi/{thread}", value))
    return records + records[::7]


def one_event(dice, number):
    kind = dice.choice(["message", "message", "message", "tool_call", "tool_result", "status", "summary"])
    role = {"message": dice.choice(["user", "assistant"]), "summary": "system"}.get(kind, "tool")
    return captured(
        dice.choice(TEXTS),
        id=f"e{number}-{dice.randrange(4)}",
        type=kind,
        role=role,
        tool_name="bash" if kind.startswith("tool") else None,
        labels=["error"] if kind in {"status", "tool_result"} and dice.random() < 0.5 else [],
    )


def embedded(path, records):
    """What the embedded engine makes of the records, by topic."""
    with EmbeddedLog.open(path) as log:
        log.append(records)
        runner = EmbeddedRunner(log, processors(IDLE))
        while runner.run_once():
            pass
        late = EmbeddedRunner(log, processors(IDLE), clock=lambda: FAR)
        while late.run_once():
            pass
        return {topic: log.read(topic, 0, 1_000_000, 1 << 40) for topic in Topic}


async def on_kafka(settings, folder):
    """Let a worker process everything and summarise all threads."""
    made = Workers(settings, folder, lambda: processors(IDLE), Shelf(lambda _: MemoryStore()), Health(), Metrics())
    made.start()
    await until_still(settings)
    await made.stop()
    late = Workers(
        settings, folder, lambda: processors(IDLE), Shelf(lambda _: MemoryStore()), Health(), Metrics(), clock=far
    )
    late.start()
    await until_still(settings)
    await late.stop()


def far():
    return FAR


async def until_still(settings):
    """Wait until nothing more comes for a while."""
    before, still = -1, 0
    while still < 3:
        now = sum(len(read) for read in await asyncio.to_thread(outputs, settings))
        still = still + 1 if now == before and now else 0
        before = now
        await asyncio.sleep(1)


def outputs(settings):
    return [read_all(settings, topic) for topic in (Topic.EVENTS, Topic.SIGNALS, Topic.SUMMARIES, Topic.REJECTED)]


def rejections(values):
    """What was rejected and why, without where it stood: offsets are of the engine."""
    found = [msgspec.json.decode(value, type=RejectedRecord) for value in values]
    return Counter((each.reason, each.sample) for each in found)


@in_loop
async def test_both_engines_give_equal_sets(broker, prefix, tmp_path):
    records = corpus()
    here = await asyncio.to_thread(embedded, tmp_path / "log.db", records)
    settings = settings_of(broker.bootstrap, prefix)
    declare(settings)
    capturer = Capturer(settings)
    for start in range(0, len(records), 20):
        with capturer.transaction():
            for record in records[start : start + 20]:
                capturer.record(record)
    await on_kafka(settings, tmp_path / "worker")
    for topic in (Topic.EVENTS, Topic.SIGNALS, Topic.SUMMARIES):
        there = Counter(value for _, _, value in read_all(settings, topic))
        assert there == Counter(record.value for record in here[topic]), topic
        assert max(there.values()) == 1, topic
        print(f"{topic}: {len(there)} on both engines")  # noqa: T201 - the figures are asked for
    there = rejections(value for _, _, value in read_all(settings, Topic.REJECTED))
    assert there == rejections(record.value for record in here[Topic.REJECTED])
    assert there
