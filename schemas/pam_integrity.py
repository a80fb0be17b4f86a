"""PAM's two hashes: of one memory's content, for deduplication, and of all memories of a store, for integrity.

Source: sections 2 and 7 of the PAM page (specification 9.4 and 17).
"""

import hashlib
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from schemas.pam_canonical import NotCanonicalError, canonical_json

PREFIX: Final = "sha256:"

Match = Literal["spec", "sdk", "none", "unverifiable"]
"""Which computation a store's checksum agrees with; `unverifiable` has no canonical form."""


def content_hash(content: str) -> str:
    """Hash a memory's content: trimmed, in lower case, then NFC, each run of white space one space."""
    normal = " ".join(unicodedata.normalize("NFC", content.strip().lower()).split())
    return PREFIX + hashlib.sha256(normal.encode("utf-8", "surrogatepass")).hexdigest()


def checksum(memories: Iterable[Mapping[str, Any]]) -> str:
    """Hash the memories of a store as they stand in its file, sorted by id; raises `NotCanonicalError`."""
    ordered = sorted(memories, key=lambda memory: str(memory.get("id", "")))
    return PREFIX + hashlib.sha256(canonical_json(ordered)).hexdigest()


def match(memories: list[dict[str, Any]], declared: str) -> Match:
    """Say which computation gives the checksum that a store declares.

    The reference SDK hashes its own serialisation instead of the file: nulls dropped, defaults added.
    """
    try:
        if checksum(memories) == declared:
            return "spec"
        return "sdk" if declared in _sdk_checksums(memories) else "none"
    except NotCanonicalError:
        return "unverifiable"


def _sdk_checksums(memories: list[dict[str, Any]]) -> set[str]:
    bare = [_without_nulls(memory) for memory in memories]
    return {checksum(bare), checksum({"status": "active", "tags": [], **memory} for memory in bare)}


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value
