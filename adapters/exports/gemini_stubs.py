"""Pages beside Gemini's chats in Takeout that hold none: its Gems, and scheduled actions."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from adapters.contract import Element, FileHead, ReadOptions, Warned
from adapters.exports.gemini_exchange import PROVIDER

_NAMES: Final = ("gemini_gems_data", "gemini_scheduled_actions_data")


class GeminiPagesReader:
    """Knows the pages of Gems and of scheduled actions.

    For most people such a page is a stub of eleven bytes without any shape, so here, and only here, the name decides:
    nothing is read from it either way.
    """

    name = "Gemini Gems or scheduled actions"
    provider = PROVIDER

    def recognises(self, head: FileHead) -> bool:
        """Whether a page without activity has one of the two names."""
        page = head.start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<") and b"outer-cell" not in head.start
        return page and head.path.name.lower().startswith(_NAMES)

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Say what the file is and what to import in its place."""
        del stream, options
        yield Warned(
            str(path), "Gems and scheduled actions are no chats: in Takeout choose My Activity, there Gemini Apps"
        )
