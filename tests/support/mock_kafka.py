"""The Kafka mock cluster inside confluent-kafka's librdkafka: real sockets on loopback, and faults on demand.

Any client can connect. What it cannot do: it keeps 5 MiB or 100,000 messages a partition, its record times are always
1234, it knows no CreateTopics, and a second aiokafka member of a group fails at SyncGroup.
"""

import ctypes
from pathlib import Path
from typing import Any, Final, Self

import confluent_kafka

PRODUCE: Final = 0
FETCH: Final = 1
METADATA: Final = 3

_SIGNATURES: Final = {
    "rd_kafka_conf_new": (ctypes.c_void_p, []),
    "rd_kafka_new": (ctypes.c_void_p, [ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]),
    "rd_kafka_destroy": (None, [ctypes.c_void_p]),
    "rd_kafka_mock_cluster_new": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_int]),
    "rd_kafka_mock_cluster_destroy": (None, [ctypes.c_void_p]),
    "rd_kafka_mock_cluster_bootstraps": (ctypes.c_char_p, [ctypes.c_void_p]),
    "rd_kafka_mock_topic_create": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_int]),
    "rd_kafka_mock_push_request_errors_array": (
        None,
        [ctypes.c_void_p, ctypes.c_int16, ctypes.c_size_t, ctypes.c_void_p],
    ),
    "rd_kafka_mock_broker_set_down": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_int32]),
    "rd_kafka_mock_broker_set_up": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_int32]),
    "rd_kafka_mock_broker_set_rtt": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_int32, ctypes.c_int]),
}


def _library() -> Any:
    folder = Path(confluent_kafka.__file__).parent.parent / "confluent_kafka.libs"
    library = ctypes.CDLL(str(next(folder.glob("librdkafka*.so*"))))
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


class MockKafka:
    """A mock cluster; its own context manager."""

    def __init__(self, brokers: int = 1) -> None:
        self._library = _library()
        self._client = self._library.rd_kafka_new(0, self._library.rd_kafka_conf_new(), None, 0)
        self._cluster = self._library.rd_kafka_mock_cluster_new(self._client, brokers)
        self.brokers = range(1, brokers + 1)
        self.bootstrap: str = self._library.rd_kafka_mock_cluster_bootstraps(self._cluster).decode()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._library.rd_kafka_mock_cluster_destroy(self._cluster)
        self._library.rd_kafka_destroy(self._client)

    def create_topic(self, name: str, partitions: int = 1) -> None:
        """Make a topic, which its admin protocol cannot."""
        self._library.rd_kafka_mock_topic_create(self._cluster, name.encode(), partitions, 1)

    def fail_next(self, request: int, *codes: int) -> None:
        """Answer the next requests of a kind with these error codes of Kafka."""
        array = (ctypes.c_int * len(codes))(*codes)
        self._library.rd_kafka_mock_push_request_errors_array(self._cluster, request, len(codes), array)

    def down(self) -> None:
        """Take all brokers away."""
        for number in self.brokers:
            self._library.rd_kafka_mock_broker_set_down(self._cluster, number)

    def up(self) -> None:
        """Bring all brokers back."""
        for number in self.brokers:
            self._library.rd_kafka_mock_broker_set_up(self._cluster, number)

    def round_trip(self, milliseconds: int) -> None:
        """Answer that much later."""
        for number in self.brokers:
            self._library.rd_kafka_mock_broker_set_rtt(self._cluster, number, milliseconds)
