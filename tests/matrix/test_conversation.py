"""What people do in a room of a real Synapse, and what becomes of it: each once, under the id of its event.

Issue 5, "It must show": send, edit, reply, thread, reaction, redaction. Source: section 3.4 of the chat platform notes.
"""

from dataclasses import dataclass

import pytest

from adapters.exports.element_export import ElementExportReader
from schemas.captured import CapturedEvent
from tests.support.ai_exports import as_json, heard, read
from tests.support.matrix import Person, edit_of, related, reply_to, words
from tests.support.matrix_reader import Reader, has
from tests.support.messengers import element_room
from tests.support.synapse import Homeserver


@dataclass
class Scene:
    """Ana, an operator, and the account that reads, in a room."""

    server: Homeserver
    ana: Person
    operator: Person
    own: Person
    room: str

    def reader(self, url: str = "", **options) -> Reader:
        return Reader(self.own, url, operators=frozenset({self.operator.user}), **options)


@pytest.fixture
def scene(homeserver: Homeserver) -> Scene:
    ana, operator, own = homeserver.person("ana"), homeserver.person("op"), homeserver.person("own")
    return Scene(homeserver, ana, operator, own, ana.make_room("Ops room", operator, own))


def role_and_text(event: CapturedEvent) -> tuple[str, str, str]:
    return event.type, event.role, event.text


def test_messages_have_their_speaker_their_time_and_the_room_as_their_thread(scene: Scene) -> None:
    """A program says `m.notice`, by convention; the account that reads is one too."""
    events = [
        scene.ana.say(scene.room, "is it open?"),
        scene.operator.say(scene.room, "yes"),
        scene.ana.send(scene.room, words("build 7 passed", msgtype="m.notice")),
        scene.own.say(scene.room, "noted"),
        scene.ana.say(scene.room, "<b>größer</b> als 🦉\nund weiter"),
    ]
    reader = scene.reader()(has(*events))
    found = [reader.get(event) for event in events]
    assert [role_and_text(event) for event in found] == [
        ("message", "user", "is it open?"),
        ("message", "self", "yes"),
        ("message", "notice", "build 7 passed"),
        ("message", "bot", "noted"),
        ("message", "user", "<b>größer</b> als 🦉\nund weiter"),
    ]
    assert reader.said(scene.room) == [event.text for event in found]
    (thread,) = {(r.thread.provider, r.thread.account, r.thread.thread_id, r.thread.title) for r in reader.records}
    assert thread == ("matrix", "ops", scene.room, "Ops room")
    sent = scene.ana.get(scene.room, events[0])
    assert [(each.times, each.author_id) for each in found[:1]] == [([sent["origin_server_ts"]], scene.ana.user)]


def test_an_edit_names_what_it_changes_and_has_its_own_id(scene: Scene) -> None:
    """The text is that of `m.new_content`, not the fallback with its asterisk; the original stays as it was said."""
    first = scene.ana.say(scene.room, "deploy at noon")
    edit = scene.ana.send(scene.room, edit_of(first, "deploy at one"))
    again = scene.ana.send(scene.room, edit_of(first, "deploy at two"))
    forged = scene.operator.send(scene.room, edit_of(first, "never deploy"))
    reader = scene.reader()(has(first, edit, again, forged))
    found = [reader.get(each) for each in (first, edit, again)]
    assert [(event.text, event.labels, event.message_id) for event in found] == [
        ("deploy at noon", [], first),
        ("deploy at one", ["edit"], first),
        ("deploy at two", ["edit"], first),
    ]
    not_an_edit = reader.get(forged)
    assert (not_an_edit.text, not_an_edit.labels) == ("* never deploy", []), "somebody else's edit is none"


def test_an_edit_of_what_was_said_before_the_source_began_is_known_by_its_sender(scene: Scene) -> None:
    """With `backfill = "now"` the original was never read: the server is asked who said it."""
    first = scene.ana.say(scene.room, "deploy at noon")
    reader = scene.reader(backfill="now")(lambda reader: reader.health.swept)
    edit = scene.ana.send(scene.room, edit_of(first, "deploy at one"))
    forged = scene.operator.send(scene.room, edit_of(first, "never"))
    reader(has(edit, forged))
    assert reader.get(edit).labels == ["edit"]
    assert reader.get(forged).labels == []
    assert reader.said(scene.room) == ["deploy at one", "* never"], "nothing from before the start"


def test_a_reply_loses_its_quote_and_a_thread_keeps_its_root(scene: Scene) -> None:
    """`m.in_reply_to` in a thread that only serves old clients is no reply."""
    root = scene.ana.say(scene.room, "who can look at the disk?")
    fallback = f"> <{scene.ana.user}> who can look at the disk?\n\nme\n> not the database"
    reply = scene.operator.send(scene.room, words(fallback, **reply_to(root)))
    plain = scene.ana.send(scene.room, words("> quoted by hand\n\nthanks"))
    falling_back = {"is_falling_back": True, "m.in_reply_to": {"event_id": reply}}
    inside = scene.ana.send(scene.room, words("in the thread", **related("m.thread", root, **falling_back)))
    answer = {"m.in_reply_to": {"event_id": inside}, "is_falling_back": False}
    answering = scene.operator.send(scene.room, words("an answer there", **related("m.thread", root, **answer)))
    reader = scene.reader()(has(root, reply, plain, inside, answering))
    told = [(reader.get(each).text, reader.get(each).parent_message_id) for each in (reply, plain, inside, answering)]
    assert told == [
        ("me\n> not the database", root),
        ("> quoted by hand\n\nthanks", None),
        ("in the thread", root),
        ("an answer there", inside),
    ]
    assert [reader.get(each).labels for each in (inside, answering)] == [["thread"], ["thread"]]


def test_reactions_and_redactions_say_what_they_are_about(scene: Scene) -> None:
    """A message that is taken back after it was read stays read, and that it was taken back is told."""
    first = scene.ana.say(scene.room, "my password is 1234")
    reaction = scene.operator.react(scene.room, first, "👍")
    reader = scene.reader()(has(first, reaction))
    redaction = scene.ana.redact(scene.room, first, "too much")
    unreaction = scene.operator.redact(scene.room, reaction, "")
    reader(has(redaction, unreaction))
    told = [reader.get(each) for each in (reaction, redaction, unreaction)]
    assert [(each.type, each.text, each.labels, each.parent_message_id) for each in told] == [
        ("status", "👍", ["reaction"], first),
        ("status", "[redaction: too much]", ["redaction"], first),
        ("status", "[redaction]", ["redaction"], reaction),
    ]
    assert [each.role for each in told] == ["self", "user", "self"]
    assert reader.said(scene.room) == ["my password is 1234"]


def test_what_was_taken_back_before_it_was_read_is_not_there(scene: Scene) -> None:
    """The server has no words any more; it is counted, not rejected."""
    first = scene.ana.say(scene.room, "my password is 1234")
    redaction, last = scene.ana.redact(scene.room, first, "too much"), scene.ana.say(scene.room, "sorry")
    reader = scene.reader()(has(redaction, last))
    assert reader.said(scene.room) == ["sorry"]
    assert "rejected" not in reader.log.counts


def test_media_polls_and_unknown_kinds_have_words(scene: Scene) -> None:
    """A caption is the body beside a file name; what this version does not know is a status, never lost."""
    photo = {"msgtype": "m.image", "url": "mxc://localhost/abc", "info": {"mimetype": "image/png", "size": 7}}
    captioned = scene.ana.send(scene.room, photo | {"body": "the rack", "filename": "rack.png"})
    bare = scene.ana.send(scene.room, photo | {"body": "rack.png"})
    place = scene.ana.send(scene.room, {"msgtype": "m.location", "body": "at the gate", "geo_uri": "geo:1,2"})
    answers = [{"id": "1", "org.matrix.msc1767.text": "yes"}, {"id": "2", "org.matrix.msc1767.text": "no"}]
    asked = {"question": {"org.matrix.msc1767.text": "ship it?"}, "answers": answers}
    poll = scene.ana.send(scene.room, {"org.matrix.msc3381.poll.start": asked}, "org.matrix.msc3381.poll.start")
    unknown = scene.ana.send(scene.room, {"volume": 11}, "com.example.loudness")
    reader = scene.reader()(has(captioned, bare, place, poll, unknown))
    assert reader.get(captioned).text == "the rack"
    assert [each.name for each in reader.get(captioned).attachments] == ["rack.png"]
    assert [reader.get(bare).text, *(each.name for each in reader.get(bare).attachments)] == [
        "[image: image/png]",
        "rack.png",
    ]
    assert reader.get(place).text == "at the gate"
    assert [each in reader.get(poll).text for each in ("ship it?", "yes", "no")] == [True, True, True]
    assert (reader.get(unknown).type, reader.get(unknown).text) == ("status", "[com.example.loudness]")


def test_a_source_that_begins_again_gives_every_event_its_old_id(scene: Scene) -> None:
    """The history of a room, read anew from its beginning, is what was read as it was said."""
    reader = scene.reader()(lambda reader: reader.health.swept)
    events = [scene.ana.say(scene.room, "one")]
    events.append(scene.ana.send(scene.room, edit_of(events[0], "uno")))
    events += [scene.ana.react(scene.room, events[0], "👍"), *scene.ana.say_all(scene.room, ["two", "three"])]
    reader(has(*events))
    anew = scene.reader()(has(*events))
    assert [event.id for event in anew.of_room(scene.room)] == [event.id for event in reader.of_room(scene.room)]
    assert [event.text for event in anew.of_room(scene.room)] == [event.text for event in reader.of_room(scene.room)]


def test_an_export_of_the_room_gives_the_same_ids(scene: Scene) -> None:
    """Element writes the raw events of `/messages`, newest edit bundled; what both have is one event."""
    first = scene.ana.say(scene.room, "one")
    events = [first, scene.ana.send(scene.room, edit_of(first, "uno")), scene.operator.say(scene.room, "two")]
    reader = scene.reader()(has(*events))
    export = element_room(*scene.ana.history(scene.room))
    exported = {event.id: event.text for event in heard(read(ElementExportReader(), as_json(export)))}
    live = {event.id: event.text for event in reader.of_room(scene.room)}
    assert exported == live
