"""What stands on the brokers: keys, headers, compression, and records that a topic would take as too large."""

import msgspec
import pytest
from confluent_kafka import Consumer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource

from ingest.log.contract import LogError, NewRecord, Topic
from ingest.log.kafka.log import KafkaLog
from ingest.log.kafka.topics import topic_name
from schemas.captured import CapturedEvent, CapturedRecord, RejectedRecord, Thread, decode_record, encode_record
from schemas.event import decode
from tests.support.daemon import eventually
from tests.support.kafka_log import on_broker
from tests.support.log import captured, everything
from tests.support.processors import event as canonical

LIMIT = 20_000


def shrink(broker, settings) -> None:
    """Set a lower limit on all topics, as an operator of a shared cluster may."""
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    entry = ConfigEntry("max.message.bytes", str(LIMIT), incremental_operation=AlterConfigOpType.SET)
    resources = [
        ConfigResource(ConfigResource.Type.TOPIC, topic_name(settings, topic), incremental_configs=[entry])
        for topic in Topic
    ]
    for done in admin.incremental_alter_configs(resources).values():
        done.result(30)

    def known() -> bool:
        found = [answer.result(30) for answer in admin.describe_configs(resources).values()]
        return all(configs["max.message.bytes"].value == str(LIMIT) for configs in found)

    eventually(known)


def numbered(number: int, text: str) -> CapturedEvent:
    return CapturedEvent(id=f"{number:036d}", type="message", role="user", text=text, labels=["kept"])


def test_every_record_says_what_it_is(broker, prefix):
    """Another project's client reads key, headers and value, and sees nothing that was not committed."""
    settings = on_broker(broker, prefix)
    with KafkaLog.open(settings) as log:
        log.append(captured("a", key="pi/thread"))
    consumer = Consumer(
        {"bootstrap.servers": broker.bootstrap, "group.id": prefix, "auto.offset.reset": "earliest", "log_level": 0}
    )
    consumer.subscribe([topic_name(settings, Topic.CAPTURED)])
    message = next(found for _ in range(60) if (found := consumer.poll(1)) is not None and not found.error())
    consumer.close()
    assert (message.key(), message.value()) == (b"pi/thread", b"a")
    assert message.headers() == [("schema-version", b"1"), ("content-type", b"application/json")]


@pytest.mark.parametrize("compression", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_large_records_come_through_whole(broker, prefix, compression):
    """The largest that capture writes, with bytes that do not compress, many in one append."""
    settings = on_broker(broker, prefix, compression=compression)
    values = [bytes(range(256)) * (3 * 1024) + str(number).encode() for number in range(8)]
    with KafkaLog.open(settings) as log:
        log.open_source("pi").append([NewRecord(Topic.CAPTURED, "k", value) for value in values], {"f": b"1"})
        assert [record.value for record in everything(log, Topic.CAPTURED)] == values


def test_a_captured_record_over_the_limit_is_parted_and_a_large_event_cut(broker, prefix):
    settings = on_broker(broker, prefix)
    shrink(broker, settings)
    events = [numbered(number, "ж" * 1_500) for number in range(20)] + [
        numbered(20, "x" * 100_000),
        numbered(21, "last"),
    ]
    record = CapturedRecord(thread=Thread(provider="pi", thread_id="t"), events=events, nearby_times=[5])
    with KafkaLog.open(settings) as log:
        log.open_source("pi").append([NewRecord(Topic.CAPTURED, "k", encode_record(record))], {"f": b"1"})
        parts = [decode_record(found.value) for found in everything(log, Topic.CAPTURED)]
    came = [event for part in parts for event in part.events]
    assert [event.id for event in came] == [event.id for event in events]
    assert [event.labels for event in came] == [["kept"]] * 20 + [["kept", "truncated"], ["kept"]]
    assert 15_000 < len(came[20].text) < LIMIT
    assert {(part.thread.thread_id, tuple(part.nearby_times)) for part in parts} == {("t", (5,))}


def test_an_event_over_the_limit_is_cut_by_its_rule(broker, prefix):
    settings = on_broker(broker, prefix)
    shrink(broker, settings)
    large = canonical("x" * 100_000)
    with KafkaLog.open(settings) as log:
        log.append([NewRecord(Topic.EVENTS, "k", msgspec.json.encode(large))])
        (found,) = everything(log, Topic.EVENTS)
    cut = decode(found.value)
    assert cut.event.id == large.event.id
    assert "truncated" in cut.event.labels
    assert 15_000 < len(cut.event.text) < LIMIT


def test_a_rejected_record_over_the_limit_keeps_its_beginning(broker, prefix):
    settings = on_broker(broker, prefix)
    shrink(broker, settings)
    large = RejectedRecord(source="pi", where="/a/file", reason="no-json", detail="d" * 50_000, sample=b"\x00" * 60_000)
    with KafkaLog.open(settings) as log:
        log.append([NewRecord(Topic.REJECTED, "pi", encode_record(large))])
        (found,) = everything(log, Topic.REJECTED)
    cut = msgspec.json.decode(found.value, type=RejectedRecord)
    assert (cut.source, cut.where, cut.reason) == ("pi", "/a/file", "no-json")
    assert 5_000 < len(cut.sample) < LIMIT


def test_what_cannot_be_cut_is_refused_by_name_and_costs_nothing_else(broker, prefix):
    settings = on_broker(broker, prefix)
    shrink(broker, settings)
    with KafkaLog.open(settings) as log:
        source = log.open_source("pi")
        with pytest.raises(LogError, match=r"conversations\.events .* max\.message\.bytes"):
            source.append([*captured("a"), NewRecord(Topic.EVENTS, "k", b"[" * 50_000)], {"f": b"1"})
        source.append(captured("b"), {"f": b"2"})
        assert [record.value for record in everything(log, Topic.CAPTURED)] == [b"b"]
