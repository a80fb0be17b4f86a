"""The same chat of Signal, read live and from its own export, is one conversation: equal ids, threads and roles."""

from adapters.contract import Heard
from adapters.exports.signal_export import SignalExportReader
from ingest.import_sinks import MemoryState
from tests.support.ai_exports import heard, imported
from tests.support.ai_exports import read as read_export
from tests.support.fake_signal import ACCOUNT
from tests.support.messengers import ANA, signal_export, signal_item
from tests.support.signal_live import T, data, envelope, in_group, read, sent

EDITED = signal_item(20, "new", own=True)
EDITED["chatItem"]["revisions"] = [signal_item(3, "old", own=True)["chatItem"]]
LIKED = signal_item(5, "liked")
LIKED["chatItem"]["standardMessage"]["reactions"] = [{"emoji": "👍", "authorId": "1", "sentTimestamp": str(T + 6)}]
QUOTING = signal_item(7, "yes", own=True)
QUOTING["chatItem"]["standardMessage"]["quote"] = {"targetSentTimestamp": str(T + 1), "authorId": "2"}
PHOTO = {"pointer": {"contentType": "image/png"}}

EXPORT = signal_export(
    signal_item(1, "one"),
    signal_item(2, "two", own=True),
    EDITED,
    signal_item(4, "in a group", chat="2"),
    LIKED,
    QUOTING,
    signal_item(8, None, standardMessage={"attachments": [PHOTO]}),
    signal_item(9, None, remoteDeletedMessage={}),
    signal_item(10, "note", own=True, chat="3"),
    signal_item(11, None, poll={"question": "Q?", "options": [{"option": "a"}]}),
)

LIVE = [
    envelope(1, body=data(1, "one")),
    sent(2, "two"),
    sent(3, "old"),
    sent(20, editMessage={"targetSentTimestamp": T + 3, "dataMessage": data(20, "new")}),
    envelope(4, body=data(4, "in a group", **in_group())),
    envelope(5, body=data(5, "liked")),
    sent(6, None, reaction={"emoji": "👍", "targetAuthorUuid": ANA, "targetSentTimestamp": T + 5, "isRemove": False}),
    sent(7, "yes", quote={"id": T + 1, "authorUuid": ANA}),
    envelope(8, body=data(8, None, attachments=[{"contentType": "image/png"}])),
    envelope(30, body=data(30, None, remoteDelete={"timestamp": T + 9})),
    sent(10, "note", to=ACCOUNT, destinationNumber=ACCOUNT),
    envelope(11, body=data(11, None, pollCreate={"question": "Q?", "options": ["a"]})),
]


def facts(elements: list) -> list[tuple]:
    """What must be equal: where, which, what, who, whose answer."""
    return [
        (e.thread.thread_id, e.thread.account, e.thread.title, e.event.id, e.event.type, e.event.role, e.event.text,
         e.event.author_id, e.event.message_id, e.event.parent_message_id, e.event.labels, e.event.raw_type)
        for e in elements
        if isinstance(e, Heard)
    ]  # fmt: skip


def test_live_and_export_agree() -> None:
    exported = read_export(SignalExportReader(), EXPORT, account=ACCOUNT)
    assert facts(read(*LIVE)) == facts(exported)


def test_an_export_of_what_was_read_live_adds_nothing() -> None:
    state = MemoryState()
    live = imported(read(*LIVE), state)
    exported = imported(read_export(SignalExportReader(), EXPORT, account=ACCOUNT), state)
    assert len(live.events) == len(heard(read(*LIVE))) == len(LIVE)
    assert (exported.events, exported.counts.get("duplicate")) == ([], len(LIVE))
