"""Ids are deterministic UUIDv5s: equal parts give equal ids on every machine, different parts never collide."""

import hashlib
import uuid

from hypothesis import given
from hypothesis import strategies as st
from msgspec import msgpack

from schemas.ids import NAMESPACE, content_digest, derived_id, event_id

PARTS = st.lists(st.none() | st.integers(-(2**63), 2**63 - 1) | st.text() | st.binary(), max_size=6)


@given(PARTS)
def test_id_is_the_uuid5_of_the_packed_parts(parts) -> None:
    """The hand-made formatting gives the bits that RFC 9562 asks for."""
    name = msgpack.encode(parts)
    digest = uuid.UUID(event_id(*parts))
    assert digest.version == 5
    assert digest.variant == uuid.RFC_4122
    assert str(digest) == str(_uuid5(name))


def _uuid5(name: bytes) -> uuid.UUID:
    return uuid.UUID(bytes=hashlib.sha1(NAMESPACE.bytes + name, usedforsecurity=False).digest()[:16], version=5)


@given(PARTS, PARTS)
def test_different_parts_give_different_ids(left, right) -> None:
    """Parts cannot run into each other, None is not the empty string, and a number is not its digits."""
    packed_equal = [type(a) for a in left] == [type(b) for b in right] and left == right
    assert (event_id(*left) == event_id(*right)) == packed_equal


def test_ids_of_this_version_never_change() -> None:
    """A change here would make every event of every user look new."""
    assert event_id("pi", "message", "user", 1770016694251, b"\x00" * 32, 0) == "73ffbc36-4334-5506-b41b-0d03c4cb670c"
    assert derived_id("d24e9a4e", "signal", "rate-limit") == "0ac1090e-377b-5511-8687-41ab680bbc7f"
    assert content_digest("a", None, 1).hex()[:16] == "87691ddbd0917662"
