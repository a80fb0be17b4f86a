"""Lines that signal-cli hands out become elements one by one, so that a bad one costs itself alone.

Envelopes come bare, or wrapped by a subscription; either may hold nothing but an exception. Source: section 5.1 of the
chat platform notes; cases 49, 51, 53.
"""

from collections.abc import Iterator
from typing import Final

from adapters.chat.identity import SELF
from adapters.chat.signal_journal import Entry
from adapters.chat.signal_memory import Memory
from adapters.chat.signal_messages import BadEnvelopeError, Said
from adapters.chat.signal_words import NOTE_TITLE, PROVIDER
from adapters.chat.words import UNKNOWN_LABEL, bracket, nested_words
from adapters.contract import MAX_SAMPLE_BYTES, Element, Heard, Rejected, Skipped, Warned
from adapters.exports.fields import Object, identifier, number, obj, text, word
from adapters.exports.media import attachment, placeholder
from adapters.files.json_line import BadLine, decode_line
from schemas.captured import CapturedEvent, Thread

_CONTENTS: Final = (
    "dataMessage", "editMessage", "syncMessage", "storyMessage", "callMessage", "receiptMessage", "typingMessage",
)  # fmt: skip
_PASSING: Final = frozenset({"receiptMessage", "typingMessage"})
_SYNC: Final = frozenset({"sentMessage", "sentStoryMessage"})
_SYNC_OF_DEVICES: Final = frozenset({"readMessages", "viewedMessages", "blockedNumbers", "blockedGroupIds", "contacts"})
_MAX_WORDS: Final = 200


def received(value: object) -> Object | None:
    """Give what a notification carries: `account`, `envelope`, `exception`; None when it is another line."""
    if obj(value).get("method") != "receive":
        return None
    params = obj(obj(value).get("params"))
    return obj(params["result"]) if is_subscribed(value) else params


def is_subscribed(value: object) -> bool:
    """Whether a notification was asked for; bare ones come from a daemon that receives on its own."""
    return isinstance(obj(obj(value).get("params")).get("result"), dict)


def passes(value: object) -> bool:
    """Whether a notification is of no conversation at all: somebody types, or has received something."""
    envelope = obj(obj(received(value)).get("envelope"))
    contents = {name for name, content in envelope.items() if isinstance(content, dict | list)}
    return bool(contents) and contents <= _PASSING


class Envelopes:
    """Makes the elements of what `memory.account` receives, in their order; `source` is their place in rejections."""

    def __init__(self, memory: Memory, source: str) -> None:
        self._memory = memory
        self._source = source
        self._threads: dict[tuple[str, str | None], Thread] = {}

    def elements(self, entry: Entry) -> list[Element]:
        """Give what one line holds; never raises, whatever it holds."""
        try:
            return list(self._line(entry))
        except (BadEnvelopeError, BadLine) as error:
            return [self._rejected(entry, error.reason, str(error))]
        except Exception as error:  # noqa: BLE001 - a fault of this program must not stop all that comes after it
            return [self._rejected(entry, "not-understood", type(error).__name__)]

    def forget(self) -> None:
        """Begin a new batch: titles may have changed."""
        self._threads.clear()

    def _rejected(self, entry: Entry, reason: str, detail: str) -> Rejected:
        raw = entry.line.raw[:MAX_SAMPLE_BYTES]
        return Rejected(f"{self._source}: entry {entry.number}", reason, detail, raw, entry.line.size)

    def _line(self, entry: Entry) -> Iterator[Element]:
        if entry.damaged:
            raise BadEnvelopeError("damaged-journal", "the journal does not hold what was written to it")
        if not entry.line.whole:
            raise BadEnvelopeError("line-too-long", f"{entry.line.size} bytes")
        value = decode_line(entry.line.raw)
        if not isinstance(value, dict):
            raise BadEnvelopeError("not-an-object", "a line that is no object")
        notification = received(value)
        if notification is None:
            yield Skipped("empty", "unknown line")
            return
        self._memory.event = word(obj(value.get("params")).get("event")) or self._memory.event
        account = identifier(notification.get("account"))
        if account not in (None, self._memory.account):
            raise BadEnvelopeError("other-account", "an envelope of another account")
        exception = obj(notification.get("exception")) or obj(notification.get("error"))
        envelope = notification.get("envelope")
        if not isinstance(envelope, dict):
            told = f"{text(exception.get('type'))}: {text(exception.get('message'))}" if exception else "no envelope"
            raise BadEnvelopeError("no-envelope", told[:_MAX_WORDS])
        yield from self._envelope(envelope, exception)

    def _envelope(self, envelope: Object, exception: Object) -> Iterator[Element]:
        author = self._memory.person(envelope, "source")
        content = next((name for name in _CONTENTS if isinstance(envelope.get(name), dict)), None)
        if content in _PASSING:
            yield Skipped("empty", "receipt or typing")
        elif content == "syncMessage":
            yield from self._sync(envelope, envelope["syncMessage"])
        elif content == "dataMessage":
            yield from self._heard(self._said(envelope, envelope["dataMessage"], author))
        elif content == "editMessage":
            yield from self._edit(envelope, envelope["editMessage"], author)
        elif content == "storyMessage":
            yield self._story(self._said(envelope, envelope["storyMessage"], author))
        elif content == "callMessage":
            yield self._call(self._said(envelope, envelope["callMessage"], author))
        else:
            yield from self._without_content(envelope, exception, author)

    def _said(self, envelope: Object, message: Object, author: str | None, peer: str | None = None) -> Said:
        """Say who sent what where; `peer` is the other side of a chat, where that is not the author."""
        sent = number(message.get("timestamp")) or number(envelope.get("timestamp"))
        if not sent:
            raise BadEnvelopeError("no-id", "without the time it was sent, which is its id")
        group_info = obj(message.get("groupInfo")) or obj(message.get("groupV2"))
        group = identifier(group_info.get("groupId")) or identifier(group_info.get("id"))
        group = group or identifier(message.get("groupId"))
        if group:
            self._memory.name_group(group, group_info.get("groupName") or group_info.get("name"))
        where = group or peer or author
        if author is None or where is None:
            raise BadEnvelopeError("no-author", "without anybody who sent it, or a chat")
        role = "outgoing" if author == SELF else "incoming"
        return Said(self._thread(where), author, role, sent, message, self._memory)

    def _thread(self, where: str) -> Thread:
        key = self._memory.account if where == SELF else where
        title = NOTE_TITLE if where == SELF else self._memory.name(where)
        found = self._threads.get((key, title))
        if found is None:
            found = Thread(provider=PROVIDER, thread_id=key, account=self._memory.account, channel_id=key, title=title)
            self._threads[key, title] = found
        return found

    def _heard(self, said: Said, edited: int | None = None) -> Iterator[Element]:
        for event in said.events(edited):
            yield event if isinstance(event, Skipped) else Heard(said.thread, event)

    def _edit(self, envelope: Object, edit: Object, author: str | None, peer: str | None = None) -> Iterator[Element]:
        target = number(edit.get("targetSentTimestamp"))
        if not target:
            raise BadEnvelopeError("no-id", "an edit that does not say of what")
        yield from self._heard(self._said(envelope, obj(edit.get("dataMessage")), author, peer), target)

    def _sync(self, envelope: Object, sync: Object) -> Iterator[Element]:
        """Tell what the account sent from another of its devices; what devices tell each other is no conversation."""
        name = next((name for name in _SYNC if isinstance(sync.get(name), dict)), None)
        if name is None:
            strange = [name for name, value in sync.items() if isinstance(value, dict | list)]
            known = _SYNC_OF_DEVICES.issuperset(strange)
            yield Skipped("empty", "sync of devices" if known else "unknown sync message")
            return
        sent = sync[name]
        peer = self._memory.person(sent, "destination")
        edit = obj(sent.get("editMessage"))
        grouped = obj(edit.get("dataMessage") if edit else sent).get("groupInfo")
        if name == "sentStoryMessage":
            yield self._story(self._said(envelope, sent, SELF))
        elif peer is None and not isinstance(grouped, dict):
            raise BadEnvelopeError("no-chat", "sent to nobody known")
        elif edit:
            yield from self._edit(envelope, edit, SELF, peer)
        else:
            yield from self._heard(self._said(envelope, sent, SELF, peer))

    def _story(self, said: Said) -> Element:
        file = obj(said.message.get("fileAttachment"))
        came = [attachment(None, file.get("filename"), file.get("contentType"), size=file.get("size"))] if file else []
        words = word(obj(said.message.get("textAttachment")).get("text")) or placeholder(came) or bracket("story")
        event = said.status(words, "storyMessage", "story")
        event.attachments = came
        return Heard(said.thread, event)

    def _call(self, said: Said) -> Element:
        offer = said.message.get("offerMessage")
        if not isinstance(offer, dict):
            return Skipped("empty", "signalling of a call")
        kind = text(offer.get("type")).replace("_", " ").lower()
        event = said.status(bracket(kind if kind in {"audio call", "video call"} else "call"), "callMessage", "service")
        event.role = "service"
        return Heard(said.thread, event)

    def _without_content(self, envelope: Object, exception: Object, author: str | None) -> Iterator[Element]:
        strange = next((name for name, value in envelope.items() if isinstance(value, dict | list)), None)
        if strange is not None:
            said = self._said(envelope, {}, author)
            words = nested_words(envelope[strange]) or bracket(strange)
            yield Heard(said.thread, said.status(words, strange or "unknown", UNKNOWN_LABEL, role="service"))
            yield Skipped("empty", "unknown kind of envelope")
        elif exception:
            said = self._said(envelope, {}, author)
            event = self._undecrypted(said, exception)
            yield Heard(said.thread, event)
            words = f"a message of {said.author} could not be decrypted ({event.text}); signal-cli keeps it if"
            yield Warned(
                self._source, f"{words} the sender's key has changed: once `signal-cli trust` is told, it comes"
            )
        else:
            yield Skipped("empty", "envelope without content")

    def _undecrypted(self, said: Said, exception: Object) -> CapturedEvent:
        told = word(exception.get("message")) or word(exception.get("type")) or "no reason given"
        reason = "".join(letter if letter.isprintable() else " " for letter in told[:_MAX_WORDS])
        return said.status(bracket("not decrypted", reason), "undecrypted", "undecrypted", role="service")
