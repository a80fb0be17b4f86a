"""A request of Kafka's protocol that aiokafka does not have: OffsetDelete, which drops a group's offsets.

Source: Apache Kafka, `OffsetDeleteRequest.json` and `OffsetDeleteResponse.json`, version 0 (brokers from 2.4 on).
"""

from collections.abc import Mapping, Sequence
from typing import Final

from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.types import Array, Int16, Int32, Schema, String

_OFFSET_DELETE: Final = 47


class OffsetDeleteResponse_v0(Response):  # type: ignore[misc]  # noqa: N801 - the library's way; it has no types
    """What the coordinator of the group answers."""

    API_KEY = _OFFSET_DELETE
    API_VERSION = 0
    SCHEMA = Schema(
        ("error_code", Int16),
        ("throttle_time_ms", Int32),
        (
            "topics",
            Array(("topic", String("utf-8")), ("partitions", Array(("partition", Int32), ("error_code", Int16)))),
        ),
    )


class OffsetDeleteRequest_v0(RequestStruct):  # type: ignore[misc]  # noqa: N801
    """The request as it is sent."""

    API_KEY = _OFFSET_DELETE
    API_VERSION = 0
    RESPONSE_TYPE = OffsetDeleteResponse_v0
    SCHEMA = Schema(
        ("group", String("utf-8")),
        ("topics", Array(("topic", String("utf-8")), ("partitions", Array(Int32)))),
    )


class OffsetDeleteRequest(Request[OffsetDeleteRequest_v0]):  # type: ignore[misc]
    """Drop the offsets of a group in these partitions, by topic."""

    API_KEY = _OFFSET_DELETE

    def __init__(self, group: str, partitions: Mapping[str, Sequence[int]]) -> None:
        self._group = group
        self._topics = [(topic, list(numbers)) for topic, numbers in partitions.items()]

    def build(self, request_struct_class: type[OffsetDeleteRequest_v0]) -> OffsetDeleteRequest_v0:
        """The request in a version that the broker knows."""
        return request_struct_class(self._group, self._topics)
