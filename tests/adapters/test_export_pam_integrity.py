"""PAM's hashes are those of its specification: held against its golden vectors and the reference library."""

import json
import math
import struct

import msgspec
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from schemas.pam_canonical import MAX_EXACT, NotCanonicalError, canonical_json
from schemas.pam_integrity import checksum, content_hash, match

HASHES = {
    "Hello World": "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9",
    "  Hello \t\n World  ": "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9",
    "CAFÉ": "850f7dc43910ff890f8879c0ed26fe697c93a067ad93a7d50f466a7028a9bf4e",
    "cafe\u0301": "850f7dc43910ff890f8879c0ed26fe697c93a067ad93a7d50f466a7028a9bf4e",
    "Straße": "787f4770613d3824cbc89b6d5da90a123e41b07b90b45ea3738c216b14616140",
    "STRASSE": "16d96952087774fee069b7585d3991b24d90c181c09b2129b4908c35baa7f0c0",
    "İstanbul": "4a4df120f7d1f3c286f58651abfcec2aade892ace635f96f02b946c96e6e1f86",
    "\u039f\u0394\u039f\u03a3": "3a2c9e1f2803431e23ed51a84e18ba04188301f1911b75310e9704974aebe4e8",
    "a\u00a0b": "c8687a08aa5d6ed2044328fa6a697ab8e96dc34291e8c2034ae8c38e6fcc6d65",
    "a b": "c8687a08aa5d6ed2044328fa6a697ab8e96dc34291e8c2034ae8c38e6fcc6d65",
    "\ufeffa": "1951c7860e968e742658b3af34e60741eb4aaf2a8d2ecc3993727016b12e81e8",
    "a\u0085b": "c8687a08aa5d6ed2044328fa6a697ab8e96dc34291e8c2034ae8c38e6fcc6d65",
    "User is a cloud infrastructure engineer": "e1bae3ec291c99eced01fc91b4152a0cef541fccf2034fc11b3f90f4e4d79b6e",
}

EMPTY = "sha256:4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"
ONE = "sha256:3eb685c320cfff7654477f1dc304056b8e8df12bb5763226e78886b6a30c57eb"


def memory(identity: str = "m1", content: str = "x", **members) -> dict:
    return {
        "id": identity,
        "type": "fact",
        "content": content,
        "content_hash": content_hash(content),
        "temporal": {"created_at": "2026-01-01T00:00:00Z"},
        "provenance": {"platform": "claude"},
        **members,
    }


@pytest.mark.parametrize("content", HASHES)
def test_content_hash(content: str) -> None:
    assert content_hash(content) == f"sha256:{HASHES[content]}"


def test_checksum() -> None:
    """Of no memories, and of one as the page gives it."""
    assert checksum([]) == EMPTY
    assert checksum([memory()]) == ONE


def test_checksum_does_not_depend_on_the_order_of_memories_or_keys() -> None:
    """Ids sort by code point: `B` comes before `a`."""
    first, second = memory("a"), memory("B")
    turned = dict(reversed(first.items()))
    assert checksum([first, second]) == checksum([second, turned])


def test_which_computation_a_checksum_agrees_with() -> None:
    """The specification's, the SDK's over nulls dropped and defaults added, neither, or none can be computed."""
    stored = memory(summary=None)
    defaults = {**memory(), "status": "active", "tags": []}
    assert match([stored], checksum([stored])) == "spec"
    assert match([stored], checksum([memory()])) == "sdk"
    assert match([stored], checksum([defaults])) == "sdk"
    assert match([stored], EMPTY) == "none"
    assert match([memory(metadata={"n": 2**53})], EMPTY) == "unverifiable"


@pytest.mark.parametrize(
    ("value", "written"),
    [(1.0, "1"), (-0.0, "0"), (1e21, "1e+21"), (1e20, "100000000000000000000"), (1e-7, "1e-7"), (1e-6, "0.000001"),
     (0.1, "0.1"), (-1.5, "-1.5"), (5e-324, "5e-324"), (1.7976931348623157e308, "1.7976931348623157e+308"),
     (1.2345678901234567e20, "123456789012345670000"), (True, "true"), (None, "null")],
)  # fmt: skip
def test_numbers_are_written_as_ecmascript_does(value: object, written: str) -> None:
    assert canonical_json(value).decode() == written


def test_keys_sort_by_utf16_units() -> None:
    """U+1F600 is two units that begin with D83D, before U+FB33."""
    assert canonical_json({"\ufb33": 1, "\U0001f600": 2}).decode() == '{"\U0001f600":2,"\ufb33":1}'


@pytest.mark.parametrize("value", [2**53, -(2**53), math.nan, math.inf, "\ud83d", {"\ud83d": 1}, {1}])
def test_what_has_no_canonical_form_is_refused(value: object) -> None:
    with pytest.raises(NotCanonicalError):
        canonical_json([value])


def test_depth_is_refused_not_a_crash() -> None:
    value: list = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(NotCanonicalError):
        canonical_json(value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-MAX_EXACT, MAX_EXACT) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@given(JSON)
def test_it_is_the_reference_librarys_form(value: object) -> None:
    assert canonical_json(value) == rfc8785.dumps(value)


@given(st.integers(0, 2**64 - 1))
def test_every_double_is_written_like_the_reference_library(bits: int) -> None:
    (value,) = struct.unpack("<d", struct.pack("<Q", bits))
    if math.isfinite(value):
        assert canonical_json(value) == rfc8785.dumps(value)
        assert msgspec.json.decode(canonical_json(value), type=float) == json.loads(repr(value))
