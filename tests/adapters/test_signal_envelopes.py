"""Whatever an envelope of Signal holds, it costs itself alone; directions, versions and reactions come out right."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.chat.identity import SELF, signal_event_id
from adapters.contract import Heard, Skipped, Warned
from tests.support.ai_exports import ANY, assert_conserved, broken, heard, ids, imported, rejected, skipped, told
from tests.support.fake_signal import ACCOUNT
from tests.support.messengers import ANA, GROUP, case
from tests.support.signal_live import BO, NUMBER, Reader, T, data, envelope, in_group, line, read, sent

PERSON = "11111111-1111-4111-8111-111111111111"


def threads(elements: list) -> list[str]:
    return [element.thread.thread_id for element in elements if isinstance(element, Heard)]


def test_what_the_account_sends_elsewhere_is_outbound_in_the_thread_of_its_peer() -> None:
    """Case 51: notes to oneself stand in the account's own thread, groups in theirs; read marks are no message."""
    elements = read(*case(51, "input.jsonl").splitlines())
    assert told(elements) == [("message", "outgoing", text) for text in ("já vou", "nota", "grupo")]
    assert threads(elements) == [PERSON, ACCOUNT, "R1JQ"]
    assert [event.event.role for event in imported(elements).events] == ["operator"] * 3
    assert elements[-1] == Skipped("empty", "sync of devices")


def test_both_directions_share_a_thread_once_the_number_is_known() -> None:
    """Case 51: a person is a UUID, and a number only as long as that is not known."""
    reader = Reader()
    first = reader.read(sent(1, to=NUMBER, destinationUuid=None, destinationNumber=NUMBER))
    assert threads(first) == [NUMBER]
    both = reader.read(envelope(2), sent(3, to=NUMBER, destinationUuid=None, destinationNumber=NUMBER), sent(4))
    assert threads(both) == [ANA, ANA, ANA]
    assert {element.thread.title for element in both} == {"Ana"}


def test_who_is_who_outlives_a_restart() -> None:
    reader = Reader()
    reader.read(envelope(1), sent(2))
    again = Reader(reader.memory.moved("j", 2))
    elements = again.read(envelope(3, sourceUuid=None), sent(4, to=BO))
    assert threads(elements) == [ANA, ACCOUNT]
    assert elements[1].thread.title == "Note to Self"


def test_an_envelope_that_cannot_be_decrypted_is_a_status_and_a_warning() -> None:
    """Case 53: without an envelope nothing is invented; what comes after is read."""
    elements = read(*case(53, "input.jsonl").splitlines())
    assert [(event.type, event.labels, event.times) for event in heard(elements)] == [
        ("status", ["undecrypted"], [1700000000123]), ("message", [], [1700000000128])
    ]  # fmt: skip
    assert threads(elements) == [PERSON, PERSON]
    (bad,) = rejected(elements)
    assert (bad.reason, bad.detail) == ("no-envelope", "ProtocolInvalidMessageException: x")
    (warning,) = [element for element in elements if isinstance(element, Warned)]
    assert "Untrusted identity" in warning.message
    assert "signal-cli trust" in warning.message


def test_words_that_are_no_text_are_rejected_and_not_passed_over() -> None:
    elements = read(envelope(1, body=data(1, 5)), envelope(2))
    assert [bad.reason for bad in rejected(elements)] == ["bad-text"]
    assert len(heard(elements)) == 1


def test_wrapped_and_bare_notifications_are_one_message() -> None:
    """Case 49."""
    given_ = json.loads(case(49))
    for name, text in (("M1", "m1"), ("M2", "m2")):
        bare = json.dumps(given_[name]).encode()
        wrapped = line(given_[name]["params"])
        assert told(read(bare)) == told(read(wrapped)) == [("message", "incoming", text)]
        assert ids(read(bare)) == ids(read(wrapped))


def test_edits_name_the_first_version() -> None:
    """A second edit names the first one; both are versions of one message."""
    first = envelope(5, "editMessage", {"targetSentTimestamp": T + 1, "dataMessage": data(5, "two")})
    second = envelope(9, "editMessage", {"targetSentTimestamp": T + 5, "dataMessage": data(9, "three")})
    events = heard(read(envelope(1), first, second))
    assert [(event.text, event.labels) for event in events] == [("words", []), ("two", ["edit"]), ("three", ["edit"])]
    assert {event.message_id for event in events} == {f"{ANA}:{T + 1}"}
    assert events[2].id == signal_event_id(ANA, ANA, T + 9, "edit")


def test_own_edits_stand_with_their_peer() -> None:
    edit = {"targetSentTimestamp": T + 1, "dataMessage": data(5, "new")}
    elements = read(sent(5, editMessage=edit))
    assert (threads(elements), told(elements)) == ([ANA], [("message", "outgoing", "new")])


def test_reactions_name_their_target_and_are_taken_back() -> None:
    target = {"targetAuthor": ACCOUNT, "targetAuthorNumber": ACCOUNT, "targetSentTimestamp": T + 1}
    reaction = {"emoji": "👍", "isRemove": False, **target}
    on, off = heard(read(*(envelope(n, body=data(n, None, reaction={**reaction, "isRemove": n == 6})) for n in (5, 6))))
    assert (on.type, on.text, on.labels, on.parent_message_id) == ("status", "👍", ["reaction"], f"{SELF}:{T + 1}")
    assert (off.text, off.labels) == ("[removed: 👍]", ["reaction", "removed"])
    assert on.id == signal_event_id(ANA, ANA, T + 5, "reaction")


def test_mentions_are_names_and_quotes_are_parents() -> None:
    """Places count UTF-16 units; signal-cli gives a number in place of a name."""
    mentions = [{"start": 3, "length": 1, "uuid": ANA, "number": NUMBER, "name": NUMBER}]
    quote = {"id": T + 1, "author": NUMBER, "authorNumber": NUMBER, "authorUuid": ANA, "text": "words"}
    reader = Reader()
    reader.read(envelope(1))
    (event,) = heard(reader.read(sent(2, "😀 \ufffc, ok", mentions=mentions, quote=quote)))
    assert (event.text, event.parent_message_id) == ("😀 @Ana, ok", f"{ANA}:{T + 1}")


def test_deletions_name_what_is_gone() -> None:
    gone = {"targetAuthorUuid": BO, "targetSentTimestamp": T + 2}
    own, other = heard(read(
        envelope(5, body=data(5, None, remoteDelete={"timestamp": T + 1})),
        envelope(6, body=data(6, None, adminDelete=gone, **in_group())),
    ))  # fmt: skip
    assert (own.id, own.labels) == (signal_event_id(ANA, ANA, T + 1, "deleted"), ["deleted"])
    assert (own.type, own.message_id) == ("status", f"{ANA}:{T + 1}")
    assert other.id == signal_event_id(GROUP, BO, T + 2, "deleted")


def test_files_have_placeholders() -> None:
    photo = {"contentType": "image/png", "filename": None, "id": "x.png", "size": 5}
    plan = {"contentType": "application/pdf", "filename": "plan.pdf", "size": 7}
    events = heard(read(
        envelope(1, body=data(1, None, attachments=[photo, plan])),
        envelope(2, body=data(2, None, sticker={"packId": "p", "stickerId": 1})),
        envelope(3, body=data(3, None, viewOnce=True, attachments=[photo])),
        envelope(4, body=data(4, "look", attachments=[photo])),
    ))  # fmt: skip
    assert [event.text for event in events] == [
        "[image: image/png]\n[file: plan.pdf]",
        "[image]",
        "[media: image/png]",
        "look",
    ]
    assert [len(event.attachments) for event in events] == [2, 1, 1, 1]


def test_what_is_no_message_is_a_status() -> None:
    events = heard(read(
        envelope(1, body=data(1, None, **in_group(type="UPDATE"))),
        envelope(2, body=data(2, None, isExpirationUpdate=True, expiresInSeconds=60)),
        envelope(3, "callMessage", {"offerMessage": {"id": 1, "type": "VIDEO_CALL", "opaque": "x"}}),
        envelope(4, body=data(4, None, pollVote={"optionIndexes": [0, 2], "voteCount": 1})),
        envelope(5, "storyMessage", {"allowsReplies": True, "textAttachment": {"text": "a story"}}),
    ))  # fmt: skip
    assert {event.type for event in events} == {"status"}
    assert [(event.role, event.text) for event in events] == [
        ("service", "[group update: Ops]"), ("service", "[disappearing messages: after 60 s]"),
        ("service", "[video call]"), ("incoming", "[poll answer: 0, 2]"), ("incoming", "a story"),
    ]  # fmt: skip


def test_polls_and_contacts_are_told() -> None:
    poll = {"question": "Q?", "allowMultiple": False, "options": ["a", "b"]}
    person = {"name": {"given": "A", "family": "B"}, "phone": []}
    events = heard(
        read(envelope(1, body=data(1, None, pollCreate=poll)), envelope(2, body=data(2, None, contacts=[person])))
    )
    assert [event.text for event in events] == ["[poll: Q?]\n- a\n- b", "[contact: A B]"]


@pytest.mark.parametrize(
    ("found", "what"),
    [
        (envelope(1, "typingMessage", {"action": "STARTED"}), "receipt or typing"),
        (envelope(1, "receiptMessage", {"isRead": True, "timestamps": [T]}), "receipt or typing"),
        (envelope(1, body=data(1, None)), "message without words"),
        (envelope(1, dataMessage=...), "envelope without content"),
        (envelope(1, "callMessage", {"iceUpdateMessages": [{}]}), "signalling of a call"),
        (envelope(1, "syncMessage", {"keys": {}}), "unknown sync message"),
        (b'{"jsonrpc": "2.0", "method": "callEvent", "params": {}}', "unknown line"),
    ],
)
def test_what_gives_no_event_is_counted(found, what) -> None:
    assert read(found) == [Skipped("empty", what)]


def test_an_unknown_kind_keeps_its_words_and_is_counted_as_unknown() -> None:
    """A change of format is noticed by the share of these."""
    elements = read(
        envelope(1, "hologramMessage", {"parts": [{"text": "once"}]}, dataMessage=...),
        envelope(2, body=data(2, None, hologram={"text": "twice"})),
    )
    assert told(elements) == [("status", "service", "once"), ("status", "incoming", "twice")]
    assert [(element.what, element.unknown) for element in skipped(elements)] == [
        ("unknown kind of envelope", True), ("unknown kind of message", True)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"{", "invalid-json"), (b"[]", "not-an-object"), (b"[" * 9999, "too-deep"),
        (line({"account": "+1999", "envelope": {}}), "other-account"),
        (line({"account": ACCOUNT}), "no-envelope"),
        (line(envelope(1, timestamp=..., dataMessage={"message": "x"})), "no-id"),
        (line(envelope(1, source=None, sourceNumber=None, sourceUuid=None)), "no-author"),
        (line(sent(1, to=None)), "no-chat"),
        (line(sent(1, to=None, editMessage={"targetSentTimestamp": T, "dataMessage": data(1)})), "no-chat"),
    ],
)  # fmt: skip
def test_what_is_no_envelope_is_named(raw: bytes, reason: str) -> None:
    assert [bad.reason for bad in rejected(read(raw))] == [reason]


MENTIONS = [{"start": 2, "length": 1, "uuid": ANA}]
REACTION = {"emoji": "x", "targetAuthorUuid": BO, "targetSentTimestamp": T, "isRemove": False}
WHOLE = [
    envelope(1, body=data(1, "x \ufffc", mentions=MENTIONS, quote={"id": T, "authorUuid": BO})),
    envelope(2, "editMessage", {"targetSentTimestamp": T + 1, "dataMessage": data(2, **in_group())}),
    sent(3),
    sent(4, to=None, **in_group()),
    sent(5, editMessage={"targetSentTimestamp": T + 3, "dataMessage": data(5)}),
    envelope(6, body=data(6, None, reaction=REACTION)),
    envelope(7, body=data(7, None, remoteDelete={"timestamp": T + 1})),
    envelope(8, body=data(8, None, attachments=[{"contentType": "image/png", "size": 1, "filename": "a"}])),
    envelope(9, body=data(9, None, pollCreate={"question": "Q", "options": ["a"]})),
    envelope(10, body=data(10, None, contacts=[{"name": {"given": "A"}}])),
    envelope(11, "callMessage", {"offerMessage": {"type": "VIDEO_CALL"}}),
    envelope(12, "storyMessage", {"fileAttachment": {"contentType": "image/png"}, "groupId": GROUP}),
    envelope(13, body=data(13, None, pollVote={"optionIndexes": [1]})),
    {**envelope(14, dataMessage=...), "exception": {"message": "m", "type": "t"}},
    envelope(15, "new", {"a": [{"text": "b"}]}, dataMessage=...),
    envelope(16, body=data(16, None, **in_group(type="UPDATE"))),
    envelope(17, body=data(17, None, adminDelete={"targetAuthorUuid": BO, "targetSentTimestamp": T})),
    envelope(18, "syncMessage", {"sentStoryMessage": {"dataMessage": {}, "textAttachment": {"text": "s"}}}),
]  # fmt: skip


def test_the_whole_is_understood() -> None:
    elements = read(*WHOLE)
    assert not rejected(elements)
    assert_conserved(elements)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, len(WHOLE) - 1), st.data())
def test_any_fault_costs_that_envelope(number: int, drawn) -> None:
    """Null, missing, of another type, a copy of something else: the others come out as they would, in order."""
    bad = drawn.draw(broken(json.loads(line(WHOLE[number]))))
    around = [envelope(100, body=data(100, "before")), envelope(101, body=data(101, "after"))]
    elements = read(around[0], json.dumps(bad).encode(), around[1])
    assert [event.text for event in (heard(elements)[0], heard(elements)[-1])] == ["before", "after"]
    assert "not-understood" not in {r.reason for r in rejected(elements)}
    assert_conserved(elements)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(["dataMessage", "editMessage", "syncMessage", "storyMessage", "callMessage", "x"]), ANY)
def test_any_value_in_place_of_any_content_is_taken(content: str, value: object) -> None:
    elements = read(json.dumps(json.loads(line(envelope(1, content, {} if value is None else value)))).encode())
    assert "not-understood" not in {r.reason for r in rejected(elements)}
    assert_conserved(elements)


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_taken(raw: bytes) -> None:
    assert_conserved(read(raw))


def test_a_fault_of_this_program_costs_one_envelope(monkeypatch) -> None:
    monkeypatch.setattr("adapters.chat.signal_messages.files", lambda _: 1 / 0)
    (bad,) = rejected(read(envelope(1)))
    assert (bad.reason, bad.detail) == ("not-understood", "ZeroDivisionError")
