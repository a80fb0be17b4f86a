"""What a message of WhatsApp's Cloud API says: its words, what came with it, what it shares.

Names of members are those of the Cloud API's webhooks, 2026. Source: section 4.2 of the chat platform notes.
"""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from adapters.chat.words import bracket, choices, nested_words, place
from adapters.exports.fields import Object, first_word, identifier, obj, objects, text, word
from adapters.exports.media import attachment, placeholder
from schemas.event import Attachment, Citation

MEDIA: Final = {"image": "image", "sticker": "image", "video": "video", "audio": "audio", "document": None}
"""Types that are files, and what kind of attachment each is; a document's media type tells it."""

ENVELOPE: Final = frozenset(
    {
        "id", "from", "from_user_id", "from_parent_user_id", "to", "to_user_id", "to_parent_user_id", "timestamp",
        "type", "context", "group_id", "history_context", "referral", "identity", "username", "metadata",
    }
)  # fmt: skip
"""Members that are about a message."""


WORDS: Final = frozenset({"text", "body", "caption", "title", "description"})
"""Members that hold words, wherever they stand."""

_NOT_PASSED_ON: Final = frozenset({"unsupported", "unknown"})
"""Types of messages that WhatsApp does not pass on; the second is the older name."""


class Said(NamedTuple):
    """The words of a message, and its files; `known` is false for a type that this version does not know."""

    text: str
    attachments: list[Attachment]
    known: bool = True


def type_of(message: Object) -> str:
    """Give the type of a message, which one without a `type` shows by its members."""
    named = identifier(message.get("type"))
    return named or next((name for name in (*MEDIA, *_SHARED) if name in message), "untyped")


def read_content(message: Object) -> Said | None:
    """Give what a message says; None when it says nothing and nothing came with it."""
    kind = type_of(message)
    body = obj(message.get(kind))
    if kind in MEDIA:
        files = [_file(kind, body)]
        return Said(text(body.get("caption")).strip() or placeholder(files), files)
    if kind in _NOT_PASSED_ON:
        return Said(bracket(kind, body.get("type"), errors_of(message)), [])
    if kind in _SHARED:
        told = _SHARED[kind](message if kind == "contacts" else body)
        return Said(told, []) if word(told) else None
    rest = {name: value for name, value in message.items() if name not in ENVELOPE}
    return Said(nested_words(rest, WORDS) or bracket(kind), [], known=False)


def errors_of(holder: Object) -> str:
    """Say what WhatsApp reports with a message or a delivery state: `Message undeliverable (131026)`."""
    return "; ".join(filter(None, map(error_words, objects(holder.get("errors")))))


def error_words(error: Object) -> str:
    """Say one error, with its details."""
    code = identifier(error.get("code"))
    title = first_word(error.get("title"), error.get("message")) or "an error without a title"
    details = word(obj(error.get("error_data")).get("details"))
    told = title if details in (None, title) else f"{title}: {details}"
    return f"{told} ({code})" if code else told


def citations_of(message: Object) -> list[Citation]:
    """Give the advertisement that somebody came from."""
    advert = obj(message.get("referral"))
    url, title, quote = (word(advert.get(name)) for name in ("source_url", "headline", "body"))
    return [Citation(url=url, title=title, quote=quote)] if url or title or quote else []


def _file(kind: str, body: Object) -> Attachment:
    return attachment(MEDIA[kind], body.get("filename"), body.get("mime_type"), None, body.get("file_size"))


def _contacts(message: Object) -> str:
    return "\n".join(_contact(person) for person in objects(message.get("contacts")))


def _contact(person: Object) -> str:
    name = obj(person.get("name"))
    numbers = (first_word(phone.get("phone"), phone.get("wa_id")) for phone in objects(person.get("phones")))
    return bracket("contact", first_word(name.get("formatted_name"), name.get("first_name")), *numbers)


def _interactive(body: Object) -> str:
    reply = obj(body.get(text(body.get("type"))))
    said = first_word(reply.get("title"), reply.get("body"), reply.get("name"))
    told = (said, word(reply.get("description")), word(reply.get("response_json")))
    return "\n".join(filter(None, told)) or _texts(body)


def _texts(body: Object) -> str:
    """Give the texts of what a business sent with buttons or from a template."""
    return nested_words(body, WORDS) or word(body.get("name")) or ""


def _order(body: Object) -> str:
    return choices("order", text(body.get("text")), map(" ".join, map(_ordered, objects(body.get("product_items")))))


def _ordered(item: Object) -> Iterator[str]:
    for name in ("quantity", "product_retailer_id", "item_price", "currency"):
        value = item.get(name)
        if isinstance(value, str | int | float) and str(value).strip():
            yield str(value)


_SHARED: Final[dict[str, Callable[[Object], str]]] = {
    "text": lambda body: text(body.get("body")).strip(),
    "button": lambda body: first_word(body.get("text"), body.get("payload")) or "",
    "interactive": _interactive,
    "template": _texts,
    "order": _order,
    "location": lambda body: place(body, body.get("name"), body.get("address")),
    "contacts": _contacts,
    "request_welcome": lambda _: bracket("chat opened"),
}
"""The other types that somebody says something with."""
