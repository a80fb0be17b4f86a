"""WhatsApp text exports: `_chat.txt` of iOS and `WhatsApp Chat with X.txt` of Android.

The file is read twice: once to learn the order of its dates, how its lines end and who its authors are, once for its
messages, one at a time. Source: section 4.1 of the chat platform notes; cases 33 to 43.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from adapters.contract import Element, FileHead, ReadOptions, Rejected, Warned
from adapters.exports.whatsapp_export_events import PROVIDER, WhatsAppChat
from adapters.exports.whatsapp_export_lines import read_header
from adapters.exports.whatsapp_export_messages import Message, Survey, messages, survey
from adapters.files.archive_head import nature

_LOOKED_AT = 10
_MARKS = ("\u200e", "whatsapp", "end-to-end")


class WhatsAppExportReader:
    """Reads the text of an exported WhatsApp chat."""

    name = "WhatsApp export"
    provider = PROVIDER

    def recognises(self, head: FileHead) -> bool:
        """Whether the first lines begin as messages do. Lines like those of programs' logs need a mark beside."""
        if nature(head.start) == "archive":  # the lines of the chat stand in it, if it does not compress
            return False
        text = head.start.decode("utf-8", "replace")
        lines = [line for line in text.split("\n", _LOOKED_AT * 4)[: _LOOKED_AT * 4] if line.strip()][:_LOOKED_AT]
        headers = [read_header(line) for line in lines]
        found = [header for header in headers if header]
        if not found or not (headers[0] or len(found) > 1):
            return False
        known = any(mark in text.lower() or mark in str(head.path).lower() for mark in _MARKS)
        return known or not all(header.plain for header in found)

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Yield every message and system line in the order of the file, holding one at a time."""
        known = survey(stream)
        if known.headers == 0:
            yield Rejected(str(path), "no-message", "no line begins as a message does")
            return
        if not known.order_known:
            yield Warned(str(path), _assumed(known))
        chat = WhatsAppChat(path, options)
        for message in messages(stream, known):
            if isinstance(message, Message):
                yield from chat.elements(message)
            else:
                where = f"{path}: byte {message.start}"
                yield Rejected(where, "no-message-header", "text before the first message", message.raw, message.size)


def _assumed(known: Survey) -> str:
    first = "day" if known.order[2] == 0 else "month"
    return f"nothing in the dates says whether day or month comes first; they were read {first} first"
