"""The `since` follows what is in the log, whatever a homeserver answers; no event is lost, no pause skipped."""

import json
import logging

import pytest

from adapters.chat.identity import matrix_event_id
from adapters.chat.matrix_api import quoted
from adapters.chat.matrix_keystore import count_room_keys
from ingest.capture import Pauses
from ingest.health import SourceState
from ingest.log.contract import LogError
from tests.support.fake_homeserver import PASSWORD, TOKEN, USER, FakeHomeserver, answer, room
from tests.support.matrix_live import ROOM, Run, follow, points, reached, said
from tests.support.messengers import case
from tests.support.sources import MemoryLog


@pytest.fixture
def server():
    with FakeHomeserver() as fake:
        yield fake


def test_a_restart_gives_what_came_meanwhile_whatever_its_time(server) -> None:
    """Case 23: no filter by time, no replay of what was read."""
    server.answers["s10"] = json.loads(case(23))["restart_token_s10"]
    run = follow(server, reached("s11"), log=MemoryLog(points=points("s10", **{ROOM: ""})))
    assert run.texts == ["while down"]
    assert server.sinces[0] == "s10"


def test_a_first_start_reads_the_history_with_the_ids_of_its_events(server) -> None:
    """Case 23: what an answer has and what a back-fill has is the same."""
    server.answers[""] = json.loads(case(23))["first_start_no_token"] | {"next_batch": "s10"}
    shown = server.answers[""]["rooms"]["join"]["!room:hs.test"]["timeline"]
    shown["prev_batch"] = "t2"
    server.history["!room:hs.test"] = [said(-2, "older"), said(-1, "old"), *shown["events"]]
    run = follow(server, reached("s10"))
    assert run.texts == ["older", "old", "m0", "m1", "m2"]
    assert [event.id for event in run.events][2:] == [matrix_event_id(f"$e{number}") for number in (0, 1, 2)]


def test_a_first_start_from_now_passes_over_what_was_before(server) -> None:
    """Case 23: the other choice."""
    server.answers[""] = json.loads(case(23))["first_start_no_token"]
    server.answers["s10"] = answer("s11", join={"!room:hs.test": room(said(4, "new"))})
    run = follow(server, reached("s11"), backfill="now")
    assert run.texts == ["new"]
    assert run.log.counts["hidden"] == 3
    assert not server.asked("/rooms/!room:hs.test/messages")


def test_nothing_is_confirmed_before_the_log_has_it(server) -> None:
    """Section 0.1: while the log refuses, the same answer is held, and no further `since` is asked for."""
    server.answers["s1"] = answer("s2", join={ROOM: room(said(1))})
    log = MemoryLog(points=points("s1", **{ROOM: ""}), refusals=[LogError("broker error")] * 10_000)
    first = follow(server, lambda run: run.health.state is SourceState.BACKING_OFF, log=log)
    assert (server.sinces, first.since, first.texts) == (["s1"], "s1", [])
    log.refusals.clear()
    second = follow(server, reached("s2"), log=log)
    assert (second.texts, second.since) == (["m1"], "s2")


def test_errors_as_answers_are_waited_out_and_the_end_of_a_token_is_told(server) -> None:
    """Case 25: growing pauses, the pause that is asked for, and a token that only a person can renew."""
    server.script["/sync"] = json.loads(case(25))["sync_answers"]
    run = Run(server)
    run(lambda run: run.health.state is SourceState.FAILED)
    assert "does not accept the access token" in str(run.health.last_error)
    assert "log in anew" in str(run.health.last_error)
    assert server.sinces == [""] * 8
    assert run.log.points == {}


def test_a_pause_in_milliseconds_is_kept(server) -> None:
    """Case 25: 1500 ms are waited, not 20."""
    server.script["/sync"] = [json.loads(case(25))["sync_answers"][6]]
    run = follow(server, reached("s0"))
    assert run.health.last_error == "the homeserver asks for a pause of 1.5 s: too many requests"


@pytest.mark.parametrize("failing", ["/sync", "/account/whoami"])
def test_ten_seconds_of_errors_are_few_requests(server, failing) -> None:
    """Case 25: fewer than 15 in 10 s, with the pauses that the daemon has."""
    server.script[failing] = [{"status": 500, "body": {"errcode": "M_UNKNOWN", "error": "x"}}] * 1000
    with pytest.raises(TimeoutError):
        Run(server, pauses=Pauses())(lambda _: False, seconds=10)
    assert 2 <= len(server.requests) < 15


def test_a_server_that_does_not_wait_is_not_asked_without_a_pause(server) -> None:
    """A proxy may answer a long poll at once, again and again."""
    server.answers |= {f"s{number}": answer(f"s{number + 1}") for number in range(1000)}
    with pytest.raises(TimeoutError):
        Run(server, log=MemoryLog(points=points("s0")))(lambda _: False, seconds=5)
    assert 2 <= len(server.asked("/sync")) < 10


def test_a_server_that_hears_no_since_is_not_asked_without_a_pause(server) -> None:
    server.answers["s1"] = answer("s1", join={ROOM: room(said(1))})
    log = MemoryLog(points=points("s1", **{ROOM: ""}))
    with pytest.raises(TimeoutError):
        Run(server, log=log)(lambda _: False, seconds=5)
    assert 2 <= len(server.asked("/sync")) < 10


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ({"status": 500, "body": {"errcode": "M_UNKNOWN", "error": "Internal"}}, "in trouble: 500 Internal"),
        ({"status": 502, "body": "<html>"}, "in trouble: 502 no reason given"),
        ({"raw": "garbage"}, "is no JSON object"),
        ({"raw": "[]"}, "is no JSON object"),
        ({"raw": '{"next_batch": "s9", "rooms"'}, "is no JSON object"),
        ({"raw": "[" * 100_000}, "is no JSON object"),
        ({"raw": "{}"}, "has no next_batch"),
        ({"raw": '{"next_batch": 7}'}, "has no next_batch"),
        ({"status": 302, "body": "", "headers": {"Location": "http://127.0.0.1:9/"}}, "in trouble: 302"),
        ({"status": 404, "body": "not found"}, "in trouble: 404"),
        ({"status": 429, "body": {"retry_after_ms": "soon"}}, "a pause of 0.0 s"),
        ({"status": 429, "body": {}, "headers": {"Retry-After": "1"}}, "a pause of 1.0 s"),
        ({"status": 400, "body": {"errcode": "M_BAD_JSON", "error": "x"}}, "refuses /sync: 400 M_BAD_JSON: x"),
    ],
)
def test_any_answer_that_is_none_is_tried_again(server, step, words) -> None:
    server.script["/sync"] = [step]
    server.answers[""] = answer("s1", join={ROOM: room(said(1), prev_batch="t0")})
    server.history[ROOM] = []
    run = follow(server, reached("s1"))
    assert words in str(run.health.last_error)
    assert (run.texts, run.health.restarts) == (["m1"], 1)


@pytest.mark.parametrize("step", [{"hang": 60}, {"drip": 60}])
def test_a_server_that_is_frozen_is_given_up_and_tried_again(server, step) -> None:
    """The sync of nio would wait for ever."""
    server.script["/sync"] = [step]
    server.answers["s1"] = answer("s2", join={ROOM: room(said(1))})
    log = MemoryLog(points=points("s1", **{ROOM: ""}))
    run = follow(server, reached("s2"), log=log, answer_seconds=2.0)
    assert run.health.last_error == "the homeserver did not answer /sync within 2 s"
    assert run.texts == ["m1"]


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ({"status": 401, "body": {"errcode": "M_MISSING_TOKEN", "error": "x"}}, "does not accept the access token"),
        ({"status": 403, "body": {"errcode": "M_FORBIDDEN", "error": "no"}}, "refuses /sync: 403 M_FORBIDDEN: no"),
        ({"status": 403, "body": {"errcode": "M_USER_DEACTIVATED", "error": "x"}}, "the account cannot be used"),
    ],
)
def test_what_only_a_person_can_mend_is_told(server, step, words) -> None:
    server.script["/sync"] = [step] * 1000
    run = follow(server, lambda run: run.health.state is SourceState.FAILED)
    assert words in str(run.health.last_error)


def test_a_server_that_is_away_is_waited_for(server) -> None:
    run = Run(server)
    run.adapter.homeserver = "http://127.0.0.1:9"
    run(lambda run: run.health.restarts >= 2)
    assert "the homeserver cannot be reached" in str(run.health.last_error)


def test_the_token_is_in_no_log_and_no_error(server, caplog, capsys) -> None:
    server.script["/sync"] = [{"status": 500, "body": {"errcode": "M_UNKNOWN", "error": f"about {TOKEN}"}}]
    with caplog.at_level(logging.DEBUG):
        run = follow(server, reached("s0"))
    assert TOKEN not in caplog.text + "".join(capsys.readouterr()) + repr(run.adapter)
    assert run.health.last_error == "the homeserver is in trouble: 500 about TOKEN"
    assert server.tokens == {f"Bearer {TOKEN}"}


def test_a_lost_position_begins_anew(server, capsys) -> None:
    """A server that was set up anew knows no token of before (Synapse: 400 M_UNKNOWN)."""
    server.script["/sync"] = [{"status": 400, "body": {"errcode": "M_UNKNOWN", "error": "Invalid stream token"}}]
    server.answers[""] = answer("s1", join={ROOM: room(said(1))})
    server.history[ROOM] = []
    run = follow(server, reached("s1"), log=MemoryLog(points=points("s99", **{ROOM: ""})), backfill="now")
    assert (run.texts, run.since) == (["m1"], "s1"), "what is given then is no beginning"
    assert "the position is lost, reading begins anew" in capsys.readouterr().out


def test_a_position_that_runs_backwards_is_told(server, capsys) -> None:
    """Synapse answers a token from the future with an older one (measured)."""
    server.answers["s99_1_2"] = answer("s50_1_2")
    run = follow(server, reached("s50_1_2"), log=MemoryLog(points=points("s99_1_2")))
    assert "counts from 50 on, but was read up to 99" in capsys.readouterr().out
    assert run.since == "s50_1_2"


def test_another_account_begins_anew(server, capsys) -> None:
    """Its rooms are its own."""
    damaged = points("s9")
    damaged["position"] = damaged["position"].replace(b"@ingest", b"@other")
    run = follow(server, reached("s0"), log=MemoryLog(points=damaged))
    assert (server.sinces[0], run.since) == ("", "s0")
    assert "the account is @ingest:hs.test now, not @other:hs.test" in capsys.readouterr().out


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff", b'{"user": 7}', b'{"user":"@ingest:hs.test","version":2}'])
def test_a_damaged_position_costs_a_repeat(server, damage) -> None:
    server.answers[""] = answer("s1", join={ROOM: room(said(1))})
    server.history[ROOM] = []
    given = {"position": damage, "rooms": damage, "joins": damage, f"gap:{ROOM}": damage}
    run = follow(server, reached("s1"), log=MemoryLog(points=given))
    assert (run.texts, run.since) == (["m1"], "s1")


def test_a_room_id_is_opaque(server) -> None:
    """Case 29: nothing is split at a colon, and any character may stand in a path."""
    odd = "!a/b?c#d%2F..:x"
    server.answers["s1"] = json.loads(case(29))
    server.answers["s2"] = answer("s3", join={odd: room(said(2), prev_batch="t1")})
    server.history[odd] = [said(1)]
    new = "!7tQiR_UI7ABkIpMR-8YpUpQ1Fajl5Q367YPe30Pxc5Y"
    run = follow(server, reached("s3"), log=MemoryLog(points=points("s1", **{new: ""})))
    heard = [(record.thread.thread_id, event.text) for record in run.records for event in record.events]
    assert heard == [(new, "hi"), (odd, "m1"), (odd, "m2")]


def test_a_source_that_has_nothing_says_so(server) -> None:
    """The first call does not wait, so that a start is over at once."""
    run = follow(server, lambda run: run.health.swept, wait_seconds=30)
    assert server.asked("/sync")[0]["timeout"] == "0"
    assert [state for state in run.log.points if state != "position"] == []


def test_an_answer_that_is_too_large_is_asked_for_with_fewer_events(server, monkeypatch) -> None:
    """What is left out of it then is read page by page."""
    monkeypatch.setattr("adapters.chat.matrix_api.MAX_ANSWER_BYTES", 10_000)
    server.script["/sync"] = [{"raw": " " * 20_000 + "{}"}] * 2
    server.script[f"/rooms/{ROOM}/messages"] = [{"raw": " " * 20_000 + "{}"}]
    server.answers["t0"] = answer("s2", join={ROOM: room(said(9), limited=True, prev_batch="t9")})
    server.history[ROOM] = [said(number) for number in range(9)]
    run = follow(server, reached("s2"), log=MemoryLog(points=points("t0", **{ROOM: ""})))
    assert [json.loads(q["filter"])["room"]["timeline"]["limit"] for q in server.asked("/sync")][:3] == [50, 10, 1]
    assert [int(q["limit"]) for q in server.asked(f"/rooms/{ROOM}/messages")][:2] == [100, 10]
    assert run.texts == [f"m{number}" for number in range(10)]


def test_what_is_always_too_large_is_told(server, monkeypatch) -> None:
    monkeypatch.setattr("adapters.chat.matrix_api.MAX_ANSWER_BYTES", 1000)
    server.script["/sync"] = [{"raw": " " * 2000}] * 1000
    run = follow(server, lambda run: run.health.restarts >= 1)
    assert run.health.last_error == "the answer to /sync has more than 1,000 bytes"


def test_many_rooms_of_an_answer_are_not_one_capture(server, monkeypatch) -> None:
    """Memory follows the size of a capture; the position moves with the last."""
    monkeypatch.setattr("adapters.chat.matrix_reading.MAX_ELEMENTS", 10)
    rooms = {f"!r{number}:hs.test": room(said(number)) for number in range(35)}
    server.answers["s1"] = answer("s2", join=rooms)
    log = MemoryLog(points=points("s1", **dict.fromkeys(rooms, "")))
    log.before_append = lambda: log.journal.append(json.loads(log.points["position"])["since"])
    run = follow(server, reached("s2"), log=log)
    assert run.texts == [f"m{number}" for number in range(35)]
    assert log.journal[:8] == ["s1", "appended"] * 4


def password_run(server, folder, password: str = PASSWORD, log: MemoryLog | None = None) -> Run:
    run = Run(server, log=log, folder=folder, password=lambda: password)
    run.adapter.token = None
    return run


def test_a_password_logs_in_once_and_is_not_used_again(server, tmp_path) -> None:
    """Each login would be another device, which has none of the keys."""
    first = password_run(server, tmp_path)(reached("s0"))
    server.requests.clear()
    password_run(server, tmp_path, log=first.log)(reached("s0"))
    assert len(server.logins) == 1
    assert server.logins[0]["initial_device_display_name"] == "session-triage"


def test_a_token_that_was_kept_and_has_ended_is_renewed_as_the_same_device(server, tmp_path) -> None:
    """With a password no person is needed."""
    gone = {"status": 401, "body": {"errcode": "M_UNKNOWN_TOKEN", "error": "gone"}}
    server.script["/sync"] = [gone]
    server.script["/account/whoami"] = [gone]
    run = password_run(server, tmp_path)(reached("s0"))
    assert "log in anew; this happens now" in str(run.health.last_error)
    assert len({login["device_id"] for login in server.logins}) == 1
    assert len(server.logins) == 2


def test_a_wrong_password_needs_a_person_and_is_nowhere_told(server, tmp_path, capsys) -> None:
    run = password_run(server, tmp_path, "wrong words")(lambda run: run.health.state is SourceState.FAILED)
    assert "does not let @ingest:hs.test log in by password" in str(run.health.last_error)
    assert "wrong words" not in str(run.health.last_error) + "".join(capsys.readouterr()) + repr(run.adapter)


def test_a_token_without_a_device_cannot_have_keys(server, tmp_path) -> None:
    server.fixed["/account/whoami"] = {"user_id": USER}
    run = Run(server, folder=tmp_path, encryption=True)(lambda run: run.health.state is SourceState.FAILED)
    assert "belongs to no device, which could have keys: set encryption = false" in str(run.health.last_error)
    assert follow(server, reached("s0"), folder=tmp_path).since == "s0"


def test_keys_are_uploaded_and_closed(server, tmp_path) -> None:
    """A second start finds the file free, and the device with its keys."""
    server.fixed["/keys/upload"] = {"one_time_key_counts": {"signed_curve25519": 50}}
    for _ in range(2):
        server.requests.clear()
        run = follow(server, reached("s0"), folder=tmp_path, encryption=True)
        assert run.health.last_error is None
    assert count_room_keys(tmp_path) == 0


@pytest.mark.parametrize(("part", "path"), [("..", "%2E%2E"), ("a/b", "a%2Fb"), ("!r:x", "%21r%3Ax"), ("ä", "%C3%A4")])
def test_an_id_is_one_part_of_a_path(part, path) -> None:
    assert quoted(part) == path
