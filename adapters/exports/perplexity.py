"""Perplexity: its own data export, and the two layouts that third-party exporters write; entries are exchanges.

The official export is one file of `{"conversations": [{"context_title", "entries": [{"query", "answer"}]}]}`; the
others hold one thread a file: `{"metadata", "conversations"}` and `{"entries", "thread_metadata"}`. Suggested further
questions are nobody's words. Source: section 4 of the export formats, case 57; the official members as public
converters read them.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from adapters.contract import Element, FileHead, ReadOptions, Rejected, Skipped, Warned
from adapters.exports.chat import Chat, attachments, sources
from adapters.exports.exchanges import Pair, pair_elements
from adapters.exports.fields import Object, array, first_word, identifier, obj, objects, text, times, word
from adapters.exports.order import oldest_first
from adapters.exports.records import Record, elements_of_whole, records
from adapters.exports.shape import conversations, outline
from schemas.ids import event_id

PROVIDER: Final = "perplexity"

_QUESTIONS: Final = frozenset({"query", "query_str"})
_ANSWERS: Final = frozenset({"answer", "blocks", "query_status"})
_FIRST_PARTS: Final = (b"[Content_Types].xml", b"_rels/", b"docProps/", b"xl/")
_NAME_AT: Final = 30
"""Where the name of an archive's first member stands (APPNOTE 4.3.7)."""


class PerplexityReader:
    """Reads `conversations-*.json` of Perplexity's data export."""

    name = "Perplexity export"
    provider = PROVIDER

    def recognises(self, head: FileHead) -> bool:
        """Whether the file is a list of conversations that hold entries of questions and answers."""
        found = conversations(head.start)
        return found.top == "[" and "entries" in found.names(0) and _asks(found.names(1))

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Yield every conversation, holding one at a time."""
        for record in records(stream, path):
            if not isinstance(record, Record):
                yield record
            elif isinstance(record.value.get("entries"), list):
                yield from _thread(record, record.value, record.value["entries"], options)
            else:
                yield Rejected(record.where, "not-a-conversation", "no list of entries is there")


class PerplexityThreadReader:
    """Reads one thread a file, as third-party exporters write them."""

    name = "Perplexity thread"
    provider = PROVIDER

    def recognises(self, head: FileHead) -> bool:
        """Whether the file is one object with a thread's entries."""
        found = outline(head.start)
        if found.top != "{":
            return False
        if "entries" in found.names(0):
            return _asks(found.names(1))
        return {"metadata", "conversations"} <= found.names(0) and _asks(conversations(head.start).names(0))

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Yield the thread's entries, oldest first."""
        return elements_of_whole(stream, path, lambda record: _whole_thread(record, options))


class WorkbookReader:
    """Knows Excel workbooks, of which Perplexity's export holds one; they are not read."""

    name = "Excel workbook"
    provider = PROVIDER

    def recognises(self, head: FileHead) -> bool:
        """Whether the file is an archive of a workbook's parts."""
        first = head.start[_NAME_AT : _NAME_AT + 40]
        return head.start.startswith(b"PK\x03\x04") and first.startswith(_FIRST_PARTS) and b"xl/w" in head.start

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Say that nothing was read and what to import in its place."""
        del stream, options
        yield Warned(str(path), "an Excel workbook cannot be read; of a Perplexity export, import conversations-*.json")


def _asks(names: frozenset[str]) -> bool:
    return bool(_QUESTIONS & names) and bool(_ANSWERS & names)


def _whole_thread(record: Record, options: ReadOptions) -> Iterator[Element]:
    entries = record.value.get("entries", record.value.get("conversations"))
    about = {**obj(record.value.get("metadata")), **obj(record.value.get("thread_metadata"))}
    if isinstance(entries, list):
        yield from _thread(record, about, entries, options)
    else:
        yield Rejected(record.where, "not-a-conversation", "no list of entries is there")


def _thread(record: Record, about: Object, entries: list[object], options: ReadOptions) -> Iterator[Element]:
    if not entries:
        yield Skipped("empty", "conversation without messages")
        return
    first = next(iter(objects(entries)), {})
    titles = ("thread_title", "title", "context_title")
    title = first_word(*(about.get(name) for name in titles), first.get("thread_title"))
    thread_id = _thread_id(about, first)
    created = times(about.get("thread_created_at"), about.get("created_at"))
    chat = Chat(
        PROVIDER,
        thread_id or event_id(PROVIDER, "thread", title, *map(str, created[:1]), _question(first)),
        options,
        title=title,
        nearby=created,
    )
    for place in oldest_first([next(iter(_times(obj(entry))), None) for entry in entries]):
        entry = entries[place]
        if isinstance(entry, dict):
            yield from pair_elements(chat, _pair(entry))
        else:
            where = f"{record.where}: {chat.thread.thread_id}: entry {place + 1}"
            yield Rejected(where, "not-an-entry", f"a {type(entry).__name__}")


def _thread_id(about: Object, first: Object) -> str | None:
    names = ("thread_id", "context_uuid", "uuid", "id")
    known = [
        *(about.get(name) for name in names),
        first.get("context_uuid"),
        first.get("thread_url_slug"),
        about.get("thread_url"),
        first.get("uuid"),
    ]
    return next((found for value in known if (found := identifier(value))), None)


def _times(entry: Object) -> list[str | int | float]:
    return times(
        entry.get("timestamp"),
        entry.get("created_at"),
        entry.get("entry_created_datetime"),
        entry.get("entry_updated_datetime"),
        entry.get("updated_datetime"),
    )


def _question(entry: Object) -> str:
    return text(entry.get("query")) or text(entry.get("query_str"))


def _pair(entry: Object) -> Pair:
    status = text(entry.get("query_status")).upper()
    return Pair(
        key=identifier(entry.get("uuid")) or identifier(entry.get("backend_uuid")) or identifier(entry.get("id")),
        question=_question(entry),
        answer=word(entry.get("answer")) or _blocks(entry.get("blocks")),
        times=_times(entry),
        model=first_word(entry.get("model"), entry.get("display_model"), entry.get("user_selected_model")),
        raw_type=word(entry.get("mode")) or "entry",
        labels=[f"query-{status.lower()}"] if status and status != "COMPLETED" else [],
        attachments=attachments(entry.get("attachments")),
        citations=sources(array(entry.get("sources")) + _web_results(entry.get("blocks"))),
    )


def _blocks(blocks: object) -> str:
    """Give the answer of an entry's blocks: the first whose markdown has words, whole or in chunks."""
    for block in objects(blocks):
        markdown = obj(block.get("markdown_block"))
        if found := word(markdown.get("answer")):
            return found
        chunks = "".join(chunk for chunk in array(markdown.get("chunks")) if isinstance(chunk, str))
        if chunks.strip():
            return chunks
    return ""


def _web_results(blocks: object) -> list[object]:
    return [
        found
        for block in objects(blocks)
        for name in ("web_result_block", "sources_block")
        for found in array(obj(block.get(name)).get("web_results"))
    ]
