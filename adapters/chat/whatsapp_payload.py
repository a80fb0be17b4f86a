"""Bodies of WhatsApp's webhooks become elements one by one: every entry, change and array element is read.

A bad element costs itself alone and goes to `rejected`; what surrounds it is read as if it were not there. Source:
section 4.2 of the chat platform notes; case 45.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Final

from adapters.chat.whatsapp_content import error_words
from adapters.chat.whatsapp_messages import ECHOES, BadElementError, Line, message_elements
from adapters.chat.whatsapp_people import Directory, person_id
from adapters.chat.whatsapp_states import status_elements, user_id_elements
from adapters.contract import MAX_SAMPLE_BYTES, Element, Rejected, Skipped, Warned
from adapters.exports.fields import Object, first_word, identifier, obj, objects, text
from adapters.files.json_line import BadLine, LineDecoder, compact_json

OBJECT: Final = "whatsapp_business_account"

CONVERSATIONS: Final = frozenset({"messages", "smb_message_echoes", "history", "standby", "user_id_update"})
"""Fields that hold what people say and do."""

NOTICES: Final = frozenset(
    {
        "account_alerts", "account_offboarded", "account_reconnected", "account_review_update",
        "account_settings_update", "account_update", "automatic_events", "business_capability_update",
        "business_status_update", "calls", "flows", "group_lifecycle_update", "group_participants_update",
        "group_settings_update", "group_status_update", "message_template_components_update",
        "message_template_quality_update", "message_template_status_update", "messaging_handovers",
        "partner_solutions", "payment_configuration_update", "phone_number_name_update",
        "phone_number_quality_update", "security", "smb_app_state_sync", "template_category_update",
        "template_correct_category_detection", "tracking_events", "user_preferences",
    }
)  # fmt: skip
"""Fields about the business account: nobody says anything in them."""

_decoder: Final = LineDecoder[Object](dict[str, Any])
_ARRAYS: Final = ("messages", ECHOES, "statuses", "history", "user_id_update", "errors")

Reading = Callable[[Object], Iterable[Element]]


class Payloads:
    """Makes the elements of the bodies that one source is sent; `source` is what rejections name as their place."""

    def __init__(self, people: Directory, source: str) -> None:
        self._people = people
        self._source = source

    def elements(self, raw: bytes) -> list[Element]:
        """Give what a body holds, in its order; never raises, whatever it holds."""
        try:
            body = _decoder.decode(raw)
        except BadLine as fault:
            return [_rejected(f"{self._source}: body", fault.reason, str(fault), raw)]
        return self._each(f"{self._source}: body", body, partial(self._body, f"{self._source}:"))

    def _body(self, where: str, body: Object) -> Iterator[Element]:
        if body.get("object") != OBJECT:
            raise BadElementError("unknown-object", f"not a {OBJECT}")
        yield from self._all(body, "entry", f"{where} entry", lambda place: partial(self._entry, place))

    def _entry(self, where: str, entry: Object) -> Iterator[Element]:
        yield from self._all(entry, "changes", f"{where}, change", lambda place: partial(self._change, place))

    def _change(self, where: str, change: Object) -> Iterator[Element]:
        field, value = text(change.get("field")), obj(change.get("value"))
        held = [name for name in _ARRAYS if isinstance(value.get(name), list)]
        if held and field not in NOTICES:
            if field not in CONVERSATIONS:
                yield Skipped("empty", "unknown field with messages")
            line = self._line(value)
            for name in held:
                yield from self._all(value, name, f"{where}, {name}", partial(self._reading, name, line))
        elif field in NOTICES:
            yield Skipped("empty", f"notice: {field}")
        elif field in CONVERSATIONS:
            raise BadElementError("no-elements", "a change that holds none of the arrays it should")
        else:
            raise BadElementError("unknown-field", "a field that this version does not know")
        for name in _ARRAYS:
            if field in CONVERSATIONS and held and name in value and name not in held:
                yield _rejected(f"{where}, {name}", "not-a-list", f"{name} is no list", _sample(value[name]))

    def _reading(self, name: str, line: Line, where: str) -> Reading:
        """Say what reads the elements of an array."""
        readings: dict[str, Reading] = {
            "statuses": partial(status_elements, line=line),
            "user_id_update": partial(user_id_elements, line=line),
            "history": partial(self._history, line, where),
            "errors": lambda error: [Warned(where, f"WhatsApp reports: {error_words(error)}")],
        }
        return readings.get(name, partial(message_elements, line=line, origin=name))

    def _history(self, line: Line, where: str, chunk: Object) -> Iterator[Element]:
        """Read a chunk of the history; instead of one there may be word that the owner does not share it."""
        for error in objects(chunk.get("errors")):
            yield Warned(where, f"WhatsApp reports: {error_words(error)}")
        if "threads" in chunk or "errors" not in chunk:
            yield from self._all(
                chunk, "threads", f"{where}, thread", lambda place: partial(self._old_thread, line, place)
            )

    def _old_thread(self, line: Line, where: str, thread: Object) -> Iterator[Element]:
        about = obj(thread.get("context"))
        other = self._people.key(about.get("user_id"), thread.get("id"), about.get("wa_id"))
        read = partial(message_elements, line=line, origin="history", other=other)
        yield from self._all(thread, "messages", f"{where}, message", lambda _: read)

    def _line(self, value: Object) -> Line:
        """Say whose number it is, and learn who is named beside the messages."""
        about = obj(value.get("metadata"))
        number = "".join(digit for digit in text(about.get("display_phone_number")) if digit in "0123456789")
        names: dict[str, str] = {}
        keys: list[str | None] = []
        for person in objects(value.get("contacts")):
            profile = obj(person.get("profile"))
            key = self._people.key(person.get("user_id"), person.get("wa_id"))
            name = first_word(profile.get("name"), profile.get("username"))
            keys.append(key)
            if key and name:
                names[key] = name.strip()
        alone = keys[0] if len(keys) == 1 else None
        return Line(self._people, identifier(about.get("phone_number_id")), person_id(number), names, alone)

    def _all(self, holder: Object, name: str, where: str, reading: Callable[[str], Reading]) -> Iterator[Element]:
        """Read every element of an array; raises `BadElementError` when it is none."""
        found = holder.get(name)
        if not isinstance(found, list):
            raise BadElementError("not-a-list", f"{name} is no list")
        if not found:
            yield Skipped("empty", "empty array")
        for number, element in enumerate(found):
            place = f"{where} {number}"
            yield from self._each(place, element, reading(place))

    def _each(self, where: str, element: object, read: Reading) -> list[Element]:
        """Read one element; whatever is wrong with it costs nothing else."""
        try:
            return list(read(_object(element)))
        except BadElementError as error:
            return [_rejected(where, error.reason, str(error), _sample(element))]
        except Exception as error:  # noqa: BLE001 - a fault of this program must not stop all that comes beside it
            return [_rejected(where, "not-understood", type(error).__name__, _sample(element))]


def _object(element: object) -> Object:
    if not isinstance(element, dict):
        raise BadElementError("not-an-object", "an object is expected")
    return element


def _sample(element: object) -> bytes:
    """Write an element as it was, but for spaces and the order of members."""
    try:
        return compact_json(element).encode()
    except RecursionError:
        return b""


def _rejected(where: str, reason: str, detail: str, raw: bytes) -> Rejected:
    return Rejected(where, reason, detail, raw[:MAX_SAMPLE_BYTES], len(raw))
