"""The same chat read live and from an export of Telegram Desktop is one conversation: equal ids, threads and roles."""

from adapters.contract import Heard
from adapters.exports.telegram_export import TelegramExportReader
from ingest.import_sinks import MemoryState
from tests.support.ai_exports import as_json, heard, imported
from tests.support.ai_exports import read as read_export
from tests.support.messengers import telegram_chat, telegram_message, telegram_service
from tests.support.telegram import message, read, update

READER = TelegramExportReader()
OWNER = {"id": 99, "is_bot": False, "first_name": "Op"}
TOPIC = {"message_thread_id": 10, "is_topic_message": True}
CREATED = message(10, None, forum_topic_created={"name": "Incidents"}, **TOPIC)
PLACE = {"latitude": 1.5, "longitude": 2.5}

EXPORT = telegram_chat(
    telegram_message(1, "one"),
    telegram_message(2, "two", from_id="user99", **{"from": "Op"}, reply_to_message_id=1),
    telegram_message(3, "three, edited", edited="2023-11-14T22:20:00", edited_unixtime="1700000400"),
    telegram_message(4, "", photo="photos/1.jpg"),
    telegram_message(5, "", location_information=PLACE),
    telegram_message(6, "", contact_information={"first_name": "A", "last_name": "B", "phone_number": "+1"}),
    telegram_message(7, "", poll={"question": "Q?", "answers": [{"text": "yes"}, {"text": "no"}]}),
    telegram_service(10, "topic_created", title="Incidents"),
    telegram_message(11, "in a topic", reply_to_message_id=10),
    telegram_message(
        12, "liked",
        reactions=[{"type": "emoji", "count": 1, "emoji": "👍",
                    "recent": [{"from": "Op", "from_id": "user99", "date": "2023-11-14T22:30:00"}]}],
    ),
)  # fmt: skip

LIVE = [
    update(1, text="one"),
    update(2, body=message(2, "two", **{"from": OWNER}, reply_to_message=message(1))),
    update(3, "edited_message", text="three, edited", edit_date=1700000400),
    update(4, text=None, photo=[{"file_size": 5}]),
    update(5, text=None, location=PLACE),
    update(6, text=None, contact={"first_name": "A", "last_name": "B", "phone_number": "+1"}),
    update(7, text=None, poll={"question": "Q?", "options": [{"text": "yes"}, {"text": "no"}]}),
    update(10, body=CREATED),
    update(11, text="in a topic", **TOPIC, reply_to_message=CREATED),
    update(12, text="liked"),
    update(13, "message_reaction", {
        "chat": message(12)["chat"], "message_id": 12, "user": OWNER, "date": 1700001000,
        "old_reaction": [], "new_reaction": [{"type": "emoji", "emoji": "👍"}],
    }),
]  # fmt: skip


def facts(elements: list) -> list[tuple]:
    """What must be equal: where, which, what kind, who, whose answer."""
    return [
        (e.thread.thread_id, e.event.id, e.event.type, e.event.role, e.event.author_id, e.event.parent_message_id)
        for e in elements
        if isinstance(e, Heard)
    ]


def test_live_and_export_agree() -> None:
    exported = read_export(READER, as_json(EXPORT), own_name="99", account="ops")
    live = read(*LIVE, operators=(99,))
    assert facts(live) == facts(exported)
    spoken = [(a.text, b.text) for a, b in zip(heard(live), heard(exported), strict=True) if a.type == "message"]
    assert [a for a, _ in spoken] == [b for _, b in spoken]
    assert {(e.thread.account, e.thread.channel_id) for e in live} == {
        (e.thread.account, e.thread.channel_id) for e in exported
    }


def test_an_export_of_what_was_read_live_adds_nothing() -> None:
    state = MemoryState()
    live = imported(read(*LIVE, operators=(99,)), state)
    exported = imported(read_export(READER, as_json(EXPORT), own_name="99", account="ops"), state)
    assert len(live.events) == len(LIVE)
    assert (exported.events, exported.counts.get("duplicate")) == ([], len(LIVE))
