"""Topics are made as specified, and each difference is named: nothing is silently accepted, and nothing changed."""

import json

import pytest
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic

from ingest.commands.topics import show_topics
from ingest.log.contract import LogError, NewRecord, Topic
from ingest.log.kafka.log import KafkaLog
from ingest.log.kafka.topics import CHECKPOINTS, PROCESSOR_STATE, partition_of, specification
from ingest.settings import Settings
from tests.support.kafka_log import settings_for


@pytest.fixture
def settings(broker, prefix, tmp_path) -> Settings:
    return Settings(state_dir=tmp_path, engine="kafka", kafka=settings_for(broker.bootstrap, prefix))


@pytest.fixture
def topics(settings, capsys):
    """Runs the command; gives its exit status and what it printed."""

    def run(*, create: bool = False):
        from rich.console import Console  # noqa: PLC0415 - after capsys has taken the output

        status = show_topics(settings, Console(), create=create, as_json=True)
        return status, json.loads(capsys.readouterr().out)

    return run


def test_missing_topics_are_named_then_made_then_right(topics, settings):
    status, before = topics()
    assert status == 1
    assert all("topics --create" in problem for view in before for problem in view["problems"])
    status, made = topics(create=True)
    assert (status, {view["created"] for view in made}) == (0, {True})
    status, after = topics(create=True)
    assert (status, {view["created"] for view in after}) == (0, {False})
    prefix = settings.kafka.topic_prefix
    assert {view["name"] for view in after} == {prefix + name for name in (*Topic, CHECKPOINTS, PROCESSOR_STATE)}


def test_what_differs_is_named_and_left_alone(topics, settings, broker):
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    specs = {spec.name.removeprefix(settings.kafka.topic_prefix): spec for spec in specification(settings.kafka)}
    wrong = {
        Topic.CAPTURED: NewTopic(specs[Topic.CAPTURED].name, 5, 1, config=dict(specs[Topic.CAPTURED].configs)),
        Topic.EVENTS: NewTopic(specs[Topic.EVENTS].name, 3, 1, config={"max.message.bytes": "2000000"}),
        CHECKPOINTS: NewTopic(specs[CHECKPOINTS].name, 3, 1, config={"max.message.bytes": "1000"}),
    }
    for made in admin.create_topics(list(wrong.values())).values():
        made.result(30)
    status, views = topics(create=True)
    problems = {view["name"]: " | ".join(view["problems"]) for view in views}
    assert status == 1
    assert "has 5 partitions, not 3" in problems[specs[Topic.CAPTURED].name]
    assert "retention.ms = 604800000, not -1" in problems[specs[Topic.EVENTS].name]
    assert "max.message.bytes" not in problems[specs[Topic.EVENTS].name]
    assert "cleanup.policy = delete, not compact" in problems[specs[CHECKPOINTS].name]
    assert "max.message.bytes = 1000, not 1048588" in problems[specs[CHECKPOINTS].name]
    assert sum(bool(each) for each in problems.values()) == 3
    resource = ConfigResource(ConfigResource.Type.TOPIC, specs[CHECKPOINTS].name)
    assert admin.describe_configs([resource])[resource].result(30)["max.message.bytes"].value == "1000"


def test_a_missing_topic_names_the_command(settings):
    with KafkaLog.open(settings.kafka) as log:
        for call in (lambda: log.append([NewRecord(Topic.EVENTS, "k", b"v")]), lambda: log.open_source("pi")):
            with pytest.raises(LogError, match="session-ingest topics --create"):
                call()
        assert len(log.problems()) == len(Topic) + 2


def test_partitions_are_those_of_every_kafka_client(broker, settings, topics):
    """A consumer of another project that hashes a key as Kafka does finds it where it looks."""
    from confluent_kafka import Producer  # noqa: PLC0415 - only here

    topics(create=True)
    producer = Producer({"bootstrap.servers": broker.bootstrap, "partitioner": "murmur2_random"})
    found = {}
    for number in range(50):
        key = f"claude/ключ/{number}"
        producer.produce(
            settings.kafka.topic_prefix + Topic.EVENTS,
            b"v",
            key,
            on_delivery=lambda _, message: found.update({message.key().decode(): message.partition()}),
        )
    producer.flush(30)
    assert found == {key: partition_of(key, 3) for key in found}
    assert len(found) == 50
    assert len(set(found.values())) == 3
