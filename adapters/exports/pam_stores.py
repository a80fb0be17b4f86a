"""PAM files that hold no conversations: memory stores and embeddings are recognised, checked, and said to be that.

Source: sections 2, 3 and 6.1, 6.7 of the PAM page.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

from adapters.contract import Element, FileHead, PermanentSourceError, ReadOptions, Warned
from adapters.exports.fields import array, obj, objects
from adapters.exports.pam_head import schema_of
from adapters.files.json_line import BadLine, decode_line
from adapters.files.json_values import MAX_ELEMENT_BYTES
from schemas.pam import CONVERSATION, EMBEDDINGS, STORE
from schemas.pam_integrity import Match, match

_VERDICTS: Final[dict[Match, str]] = {
    "spec": "",
    "sdk": "; its checksum is the one that the reference SDK computes, not the specification's",
    "none": "; its checksum does not fit its memories",
    "unverifiable": "; its checksum cannot be verified: the memories have no canonical form",
}


class PamStoreReader:
    """Says what PAM's other files are, and what to import instead."""

    name = "PAM memory store"
    provider = "pam"

    def recognises(self, head: FileHead) -> bool:
        """Whether the file says by its `schema` that it is a PAM file without a conversation."""
        return schema_of(head.start) not in {None, CONVERSATION}

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:  # noqa: ARG002 - says all
        """Yield one warning; raises `PermanentSourceError` when it is no JSON or of a kind that is not known."""
        stream.seek(0)
        raw = stream.read(MAX_ELEMENT_BYTES + 1)
        if len(raw) > MAX_ELEMENT_BYTES:
            yield Warned(str(path), "a PAM file without conversations; it is too large to be checked")
            return
        try:
            root = obj(decode_line(raw))
        except BadLine as error:
            raise PermanentSourceError(f"{path}: a PAM file that is no JSON: {error}") from None
        yield Warned(str(path), _told(root, path))


def _told(root: dict[str, Any], path: Path) -> str:
    kind, version = root.get("schema"), root.get("schema_version")
    if kind not in {STORE, EMBEDDINGS}:
        raise PermanentSourceError(f"{path}: PAM has no schema {kind!r:.80}")
    if isinstance(version, str) and not version.startswith("1."):
        raise PermanentSourceError(f"{path}: PAM schema_version {version!r:.80} is not known; 1.x is")
    if kind == EMBEDDINGS:
        return "a PAM file of embeddings: they hold no conversations"
    listed = len(array(root.get("conversations_index")))
    advice = f"; import the {listed} conversations it lists, in the folder conversations beside it" if listed else ""
    return f"a PAM memory store, no conversations; {len(array(root.get('memories')))} memories{_checked(root)}{advice}"


def _checked(root: dict[str, Any]) -> str:
    declared = obj(root.get("integrity")).get("checksum")
    memories = array(root.get("memories"))
    if not isinstance(declared, str):
        return ""
    if len(objects(memories)) < len(memories):
        return _VERDICTS["unverifiable"]
    return _VERDICTS[match(memories, declared)]
