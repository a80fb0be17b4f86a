"""The manifest of a large Claude export: it lists archives to fetch, and holds nothing else.

Source: section 2.1 of the export formats; case 39. Nothing is ever fetched: the addresses are private and expire.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

from msgspec import Struct

from adapters.contract import Element, FileHead, ReadOptions, Warned
from adapters.exports.claude_messages import PROVIDER
from adapters.exports.fields import objects, word
from adapters.exports.shape import outline
from adapters.files.json_line import BadLine, LineDecoder

MAX_BYTES: Final = 8 * 1024 * 1024
"""A manifest of ten thousand archives has half of this."""

MAX_NAMED: Final = 50
"""Archives named one by one."""

_MARKS: Final = frozenset({"export_url", "file_name", "category"})


class _Manifest(Struct, gc=False):
    data_files: Any = None


_decoder: Final = LineDecoder[_Manifest](_Manifest)


class ClaudeManifestReader:
    """Knows manifests, and says which archives to take in their place."""

    name = "Claude export index"
    provider = PROVIDER

    def recognises(self, head: FileHead) -> bool:
        """Whether the file is an object with a list of data files."""
        found = outline(head.start)
        return found.top == "{" and found.array("data_files") is not None and bool(found.names(1) & _MARKS)

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Yield a single remark that names the archives."""
        del options
        stream.seek(0)
        try:
            listed = objects(_decoder.decode(stream.read(MAX_BYTES)).data_files)
        except BadLine:
            listed = []
        names = [name for item in listed if (name := word(item.get("file_name")))]
        told = ", ".join(names[:MAX_NAMED]) or "the archives that it lists"
        more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
        yield Warned(
            str(path),
            f"it only lists the archives of an export: download {told}{more} and import those that hold conversations",
        )
