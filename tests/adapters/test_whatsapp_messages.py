"""What WhatsApp's Cloud API says of a message stands in its event: words, who, to whom, when, and what it refers to."""

import pytest

from adapters.chat.identity import whatsapp_event_id
from adapters.contract import Heard, Skipped
from schemas.captured import CapturedEvent
from tests.support.ai_exports import heard, ids, imported, rejected, skipped, told, warned
from tests.support.whatsapp import (
    ANA,
    ANA_ID,
    OWN,
    change,
    history,
    message,
    messages,
    of_type,
    payload,
    read,
    status,
)


def one(body: dict) -> tuple[Heard, CapturedEvent]:
    (element,) = read(body)
    assert isinstance(element, Heard), element
    return element, element.event


def echoes(*found: dict) -> dict:
    return payload(change("smb_message_echoes", contacts=..., message_echoes=list(found)))


def echo(number: int, text: str = "on its way", **members: object) -> dict:
    return message(number, text, **{"from": OWN, "to": ANA, **members})


def test_a_message_is_known_by_what_whatsapp_calls_it() -> None:
    element, event = one(messages(message(1, "olá", context={"id": "wamid.0", "from": OWN})))
    assert (event.id, event.message_id, event.parent_message_id) == (
        whatsapp_event_id("wamid.1"), "wamid.1", "wamid.0"
    )  # fmt: skip
    assert (event.type, event.role, event.text, event.times) == ("message", "user", "olá", [1700000001])
    thread = element.thread
    assert (thread.provider, thread.account, thread.thread_id, thread.title) == ("whatsapp", "PN1", ANA_ID, "Ana")
    canonical = imported([element]).events[0]
    assert canonical.event.timestamp_iso == "2023-11-14T22:13:21.000Z"
    assert (canonical.event.role, canonical.meta.author_id) == ("user", ANA_ID)


@pytest.mark.parametrize(
    ("kind", "body", "text", "attachments"),
    [
        ("image", {"mime_type": "image/jpeg", "id": "m", "caption": "the pier"}, "the pier", ["image"]),
        ("image", {"mime_type": "image/jpeg", "id": "m"}, "[image: image/jpeg]", ["image"]),
        ("sticker", {"mime_type": "image/webp"}, "[image: image/webp]", ["image"]),
        ("video", {"mime_type": "video/mp4"}, "[video: video/mp4]", ["video"]),
        ("audio", {"mime_type": "audio/ogg", "voice": True}, "[audio: audio/ogg]", ["audio"]),
        ("document", {"filename": "plan.pdf", "mime_type": "application/pdf"}, "[file: plan.pdf]", ["file"]),
        ("location", {"latitude": 1.5, "longitude": 2, "name": "Harbour"}, "[location: Harbour 1.5, 2]", []),
        ("button", {"text": "Yes", "payload": "y"}, "Yes", []),
        ("interactive", {"type": "button_reply", "button_reply": {"id": "1", "title": "Close it"}}, "Close it", []),
        ("interactive", {"type": "list_reply", "list_reply": {"title": "Pier", "description": "north"}},
         "Pier\nnorth", []),
        ("interactive", {"type": "nfm_reply", "nfm_reply": {"body": "Sent", "response_json": '{"a":1}'}},
         'Sent\n{"a":1}', []),
        ("order", {"text": "please", "product_items": [{"product_retailer_id": "sku", "quantity": 2}]},
         "[order: please]\n- 2 sku", []),
        ("contacts", [{"name": {"formatted_name": "Bea"}, "phones": [{"phone": "+1 555"}]}], "[contact: Bea +1 555]",
         []),
        ("request_welcome", {}, "[chat opened]", []),
    ],
)  # fmt: skip
def test_every_type_says_what_it_holds(kind: str, body: object, text: str, attachments: list[str]) -> None:
    _, event = one(messages(of_type(1, kind, body)))
    assert (event.type, event.text, [each.kind for each in event.attachments]) == ("message", text, attachments)
    assert event.raw_type == f"messages/{kind}"


def test_what_whatsapp_cannot_pass_on_is_told_with_its_reason() -> None:
    error = {"code": 131051, "title": "Message type unknown", "error_data": {"details": "not supported"}}
    _, event = one(messages(message(1, type="unsupported", text=..., errors=[error], unsupported={"type": "poll"})))
    assert event.text == "[unsupported: poll Message type unknown: not supported (131051)]"
    _, event = one(messages(message(1, type="unsupported", text=...)))
    assert event.text == "[unsupported]"
    _, event = one(messages(message(1, type="unknown", text=..., errors=[error])))
    assert event.text == "[unknown: Message type unknown: not supported (131051)]"


def test_a_message_without_a_type_is_known_by_what_it_holds() -> None:
    assert told(read(messages(message(1, type=...)))) == [("message", "user", "words")]
    elements = read(messages(message(1, type=..., text=...)))
    assert told(elements) == [("message", "user", "[untyped]")]
    assert [each.unknown for each in skipped(elements)] == [True]


def test_an_unknown_type_keeps_its_words_and_is_counted() -> None:
    elements = read(messages(of_type(1, "hologram", {"parts": [{"body": "once"}], "id": "x"}), message(2)))
    assert told(elements) == [("message", "user", "once"), ("message", "user", "words")]
    assert heard(elements)[0].labels == ["unknown-kind"]
    assert elements[1] == Skipped("empty", "unknown type of message")


def test_a_message_without_words_is_counted() -> None:
    assert [each.what for each in skipped(read(messages(message(1, "  "))))] == ["message without words"]


def test_an_advertisement_is_cited_and_a_forward_labelled() -> None:
    advert = {"source_url": "https://example.test/ad", "headline": "Ferry", "body": "Sail"}
    _, event = one(messages(message(1, referral=advert, context={"forwarded": True})))
    assert [(each.url, each.title, each.quote) for each in event.citations] == [
        ("https://example.test/ad", "Ferry", "Sail")
    ]
    assert event.labels == ["forwarded"]


def test_words_of_the_business_app_are_the_operators() -> None:
    """Echoes name both numbers: the thread is the customer's, and so the same as that of what the customer says."""
    elements = read(messages(message(1)), echoes(echo(2), echo(3, to=..., to_user_id=ANA_ID)))
    assert told(elements)[1:] == [("message", "self", "on its way")] * 2
    assert {each.thread.thread_id for each in elements} == {ANA_ID}
    assert [event.event.role for event in imported(elements).events] == ["user", "operator", "operator"]


def test_a_group_is_a_thread_of_its_own() -> None:
    element, event = one(messages(message(1, group_id="G1")))
    assert (element.thread.thread_id, element.thread.title, event.author_id) == ("G1", None, ANA_ID)


def test_an_edit_refers_to_what_it_changes() -> None:
    """It is an event of its own, the same one however often it comes; two edits of one message are two."""

    def edit(number: int, text: str) -> dict:
        inner = {"type": "text", "text": {"body": text}}
        return of_type(number, "edit", {"original_message_id": "wamid.1", "message": inner})

    elements = read(messages(message(1), edit(2, "new"), edit(3, "newer"), edit(2, "new")))
    events = heard(elements)
    assert [(event.text, event.message_id, event.labels) for event in events[1:3]] == [
        ("new", "wamid.1", ["edit"]), ("newer", "wamid.1", ["edit"])
    ]  # fmt: skip
    assert [event.event.text for event in imported(elements).events] == ["words", "new", "newer"]


def test_an_edit_of_the_operator_is_the_operators() -> None:
    inner = {"type": "image", "image": {"caption": "better", "mime_type": "image/png"}}
    changed = of_type(2, "edit", {"original_message_id": "wamid.1", "message": inner}, **{"from": OWN, "to": ANA})
    _, event = one(echoes(changed))
    assert (event.role, event.text, event.attachments[0].kind) == ("self", "better", "image")


def test_a_revocation_names_what_is_gone() -> None:
    """The words themselves stay in the stream, as they were said."""
    gone = of_type(2, "revoke", {"original_message_id": "wamid.1"})
    _, event = one(messages(gone))
    assert (event.type, event.text, event.labels) == ("status", "[deleted]", ["deletion"])
    assert (event.parent_message_id, event.id) == ("wamid.1", whatsapp_event_id("wamid.1", "deleted"))
    assert [each.reason for each in rejected(read(messages(of_type(2, "revoke", {}))))] == ["no-target"]


@pytest.mark.parametrize("none", [{}, {"emoji": ""}])
def test_reactions_come_and_go(none: dict) -> None:
    given = of_type(2, "reaction", {"message_id": "wamid.1", "emoji": "👍"})
    taken = of_type(3, "reaction", {"message_id": "wamid.1", **none})
    events = heard(read(messages(given, taken)))
    assert [(event.type, event.text, event.labels, event.parent_message_id) for event in events] == [
        ("status", "👍", ["reaction"], "wamid.1"), ("status", "[removed]", ["reaction", "removed"], "wamid.1")
    ]  # fmt: skip


def test_states_are_told_of_the_message_they_are_about() -> None:
    """Out of order, repeated, with the same state at two times: each counts once."""
    body = payload(change(contacts=..., statuses=[
        status(9, "delivered"), status(8, "read"), status(9, "delivered"), status(7, "delivered")
    ]))  # fmt: skip
    elements = read(body)
    assert [event.text for event in heard(elements)] == ["delivered", "read", "delivered", "delivered"]
    assert len(set(ids(elements))) == len(imported(elements).events) == 3
    first = imported(elements).events[0]
    assert (first.event.type, first.event.role, first.meta.parent_message_id) == ("status", "system", "wamid.out")


def test_a_failure_says_why() -> None:
    error = {"code": 131026, "title": "Message undeliverable", "error_data": {"details": "Not a WhatsApp number"}}
    _, event = one(payload(change(statuses=[status(1, "failed", errors=[error])])))
    assert event.text == "failed: Message undeliverable: Not a WhatsApp number (131026)"


def test_members_of_a_group_have_states_of_their_own() -> None:
    states = [
        status(1, "read", recipient_id="G1", recipient_type="group", recipient_participant_id=member)
        for member in (ANA, "15550100003")
    ]
    elements = read(payload(change(contacts=..., statuses=states)))
    assert len(set(ids(elements))) == 2
    assert {each.thread.thread_id for each in elements} == {"G1"}


def test_an_unknown_state_is_kept_and_counted() -> None:
    elements = read(payload(change(statuses=[status(1, "teleported")])))
    assert told(elements) == [("status", "service", "teleported")]
    assert elements[1:] == [Skipped("empty", "unknown delivery state")]


def test_the_history_has_both_sides_and_the_ids_of_what_came_live() -> None:
    old = [
        message(1, "hello", history_context={"status": "READ"}),
        message(2, "hi", **{"from": OWN, "to": ANA}),
        message(3, "by me", **{"from": "19990000000"}, history_context={"status": "READ", "from_me": True}),
    ]
    elements = read(history(*old), messages(message(1, "hello")))
    assert told(elements) == [
        ("message", "user", "hello"), ("message", "self", "hi"), ("message", "self", "by me"),
        ("message", "user", "hello"),
    ]  # fmt: skip
    assert {each.thread.thread_id for each in elements} == {ANA}
    assert len(imported(elements).events) == 3


def test_media_of_the_history_may_come_later() -> None:
    """The placeholder is an event of its own: else the message itself would count as known."""
    elements = read(history(message(1, type="media_placeholder", text=...)),
                    payload(change("history", messages=[of_type(1, "image", {"caption": "the pier"})])))  # fmt: skip
    assert told(elements) == [("status", "user", "[media]"), ("message", "user", "the pier")]
    assert len(imported(elements).events) == 2


def test_a_history_that_is_not_shared_is_told() -> None:
    error = {"code": 2593109, "title": "History sync is turned off"}
    elements = read(payload(change("history", history=[{"errors": [error]}])))
    assert warned(elements) == ["WhatsApp reports: History sync is turned off (2593109)"]


def test_errors_without_a_message_are_told() -> None:
    elements = read(payload(change(errors=[{"code": 130429, "message": "Rate limit hit"}], contacts=...)))
    assert warned(elements) == ["WhatsApp reports: Rate limit hit (130429)"]


def test_what_the_system_says_is_no_persons_word() -> None:
    said = {
        "body": "Ana changed from 15550100002 to 15550100009",
        "wa_id": "15550100009",
        "type": "user_changed_number",
    }
    _, event = one(messages(of_type(1, "system", said), contacts=...))
    assert (event.type, event.role, event.labels, event.text) == ("status", "service", ["service"], said["body"])
