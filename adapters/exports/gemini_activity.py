"""Gemini's activity in Google Takeout (JSON): one record is one exchange, with the newest first.

Real records hold the prompt in `title` and the answer as HTML in `safeHtmlItem`; two other layouts that were described
(`details` of requests and responses, `userInteractions` of serialised JSON) are read as well. A record names its chat
seldom; else it is a thread of its own, for nothing in the data says which belong together. Source: section 3.1 of the
export formats, 4.4 of the PAM page, cases 47 and 49.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from adapters.contract import Element, FileHead, ReadOptions, Rejected, Skipped, Warned
from adapters.exports.fields import Object, array, identifier, objects, text, times, word
from adapters.exports.gemini_exchange import PROVIDER, WITHOUT_GEMINI, Exchange, exchange_elements
from adapters.exports.gemini_titles import read_title
from adapters.exports.gemini_variants import interaction_words
from adapters.exports.records import Record, records_by_time
from adapters.exports.shape import outline
from schemas.event import Attachment, Citation

_PRODUCT: Final = re.compile("gemini|bard", re.IGNORECASE)
_HEADINGS: Final = re.compile(
    rb'"(?:header|products|activityControls|titleUrl)"\s*:\s*\[?\s*"[^"]*(?:gemini|bard)', re.IGNORECASE
)
_CHAT: Final = re.compile(r"https?://gemini\.google\.com/(?:u/\d+/)?(?:gem/[^/?#]+|app(?:/c)?)/([\w-]{6,200})")
_GEM: Final = re.compile(r"(.+?) was used in this chat\.?$")
_COUNTED: Final = re.compile(r"Attached \d+ files?\.?$|\d+ Datei(?:en|\(en\))? angehängt\.?$")
_LOCAL_NAME: Final = re.compile(r"^[-\u2013]\s+")


def is_activity(head: FileHead) -> bool:
    """Whether a file is an array of My Activity records, of whichever Google product."""
    found = outline(head.start)
    names = found.names(0)
    return found.top == "[" and {"title", "time"} <= names and bool({"header", "products"} & names)


def is_gemini(head: FileHead) -> bool:
    """Whether the first records name Gemini, or Bard as it was called, in any language's words around it."""
    return bool(_HEADINGS.search(head.start))


class GeminiActivityReader:
    """Reads `MyActivity.json` of Gemini Apps, whatever the export calls it."""

    name = "Gemini activity"
    provider = PROVIDER

    def recognises(self, head: FileHead) -> bool:
        """Whether the file holds activity records of Gemini."""
        return is_activity(head) and is_gemini(head)

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Yield every record's events, oldest first, holding one record at a time and 25 bytes for each other."""
        for record in records_by_time(stream, path, lambda value: value.get("time")):
            if isinstance(record, Record):
                yield from _elements(record, options)
            else:
                yield record


class OtherActivityReader:
    """Knows the activity of other Google products, which holds no chats with Gemini."""

    name = "Google activity without Gemini"
    provider = PROVIDER

    def recognises(self, head: FileHead) -> bool:
        """Whether the file holds activity records, none of them of Gemini as far as its beginning shows."""
        return is_activity(head) and not is_gemini(head)

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Say what the file is and what to import in its place."""
        del stream, options
        yield Warned(str(path), WITHOUT_GEMINI)


def _elements(record: Record, options: ReadOptions) -> Iterator[Element]:
    value = record.value
    if not _of_gemini(value):
        yield Skipped("empty", "activity of another product")
        return
    exchange = _exchange(value)
    if exchange.is_empty and not any(key in value for key in ("title", "time")):
        yield Rejected(record.where, "not-an-activity", "neither title nor time is there")
        return
    yield from exchange_elements(exchange, options)


def _of_gemini(value: Object) -> bool:
    headings = [value.get("header"), *array(value.get("products")), *array(value.get("activityControls"))]
    said = [heading for heading in headings if word(heading)]
    return not said or any(_PRODUCT.search(heading) for heading in said)


def _exchange(value: Object) -> Exchange:
    answers = [html for item in objects(value.get("safeHtmlItem")) if (html := word(item.get("html")))]
    title = text(value.get("title"))
    read = read_title(title, answered=bool(answers))
    exchange = Exchange(
        title=title,
        stamp=identifier(value.get("time")),
        times=times(value.get("time")),
        prompts=[read.prompt] if read.prompt is not None else [],
        answers=[*_details(value, "response"), *interaction_words(value, "response")],
        html_answers=answers,
        verb=read.verb,
        chat=_chat(value),
    )
    said = [*_details(value, "request"), *interaction_words(value, "request")]
    exchange.prompts += [words for words in said if words not in exchange.prompts]
    exchange.files = read.files
    _subtitles(value, exchange)
    _files(value, exchange)
    return exchange


def _details(value: Object, name: str) -> list[str]:
    """Words of the documented variant A; any other name says nothing about who spoke."""
    found = objects(value.get("details"))
    return [words for item in found if text(item.get("name")).lower() == name and (words := word(item.get("value")))]


def _chat(value: Object) -> str | None:
    addresses = [value.get("titleUrl"), *(item.get("url") for item in objects(value.get("details")))]
    chats = [match[1] for address in addresses if (match := _CHAT.match(text(address)))]
    return chats[0] if chats else None


def _subtitles(value: Object, exchange: Exchange) -> None:
    for item in objects(value.get("subtitles")):
        name, url = text(item.get("name")).strip(), text(item.get("url"))
        if url.startswith(("http://", "https://")):
            exchange.citations.append(Citation(url=url, title=name or None))
        elif url or _LOCAL_NAME.match(name):
            exchange.attach(Attachment(kind="file", name=_LOCAL_NAME.sub("", name) or url, url=url or None))
        elif gem := _GEM.fullmatch(name):
            exchange.labels.append(f"gem:{gem[1]}")
        elif _COUNTED.fullmatch(name):
            exchange.files = max(exchange.files, int("".join(filter(str.isdigit, name))))


def _files(value: Object, exchange: Exchange) -> None:
    for key, kind in (("attachedFiles", "file"), ("imageFile", "image"), ("audioFiles", "audio")):
        found = value.get(key)
        for item in found if isinstance(found, list) else [found]:
            name = item.get("name") if isinstance(item, dict) else item
            if word(name):
                exchange.attach(Attachment(kind=kind, name=name))
