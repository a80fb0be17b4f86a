"""The real broker that the other tests stand on: what it was given outlives `kill -9`."""

from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic


def test_a_killed_broker_comes_back_with_what_it_acknowledged(broker, prefix):
    topic = f"{prefix}t"
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(30)
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    producer.produce(topic, b"kept")
    assert producer.flush(30) == 0
    broker.kill()
    assert not broker.running
    broker.start()
    consumer = Consumer(
        {"bootstrap.servers": broker.bootstrap, "group.id": prefix, "auto.offset.reset": "earliest", "log_level": 0}
    )
    consumer.subscribe([topic])
    message = next(found for _ in range(60) if (found := consumer.poll(1)) is not None and not found.error())
    consumer.close()
    assert message.value() == b"kept"


def test_the_mock_speaks_to_any_client(mock):
    mock.create_topic("t", 2)
    topics = AdminClient({"bootstrap.servers": mock.bootstrap}).list_topics(timeout=10).topics
    assert len(topics["t"].partitions) == 2
