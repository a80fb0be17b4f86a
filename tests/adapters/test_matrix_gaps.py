"""What an answer leaves out is read page by page before the position moves, and a stop in the middle costs a page."""

import json

import pytest

from adapters.chat.matrix_memory import GAP
from ingest.log.contract import LogError
from tests.support.fake_homeserver import FakeHomeserver, answer, room
from tests.support.matrix_live import ROOM, Run, follow, points, reached, said
from tests.support.sources import MemoryLog

MESSAGES = f"/rooms/{ROOM}/messages"


@pytest.fixture
def server():
    with FakeHomeserver() as fake:
        yield fake


def gap(server: FakeHomeserver, events: int, shown: int = 1, **members) -> list[str]:
    """A room whose last answer shows the latest events alone; gives the words that were said since."""
    told = [said(number) for number in range(events)]
    before = events - shown
    server.history[ROOM] = told
    server.answers["t0"] = answer(f"t{events}", join={ROOM: room(*told[before:], prev_batch=f"t{before}", **members)})
    return [f"m{number}" for number in range(events)]


def known(since: str = "t0") -> MemoryLog:
    return MemoryLog(points=points(since, **{ROOM: ""}))


def test_a_gap_is_filled_in_order(server) -> None:
    """Section 3.2: 300 messages, of which an answer shows a few."""
    words = gap(server, 300, shown=10, limited=True)
    run = follow(server, reached("t300"), log=known())
    assert run.texts == words
    assert [(q.get("from"), q["to"]) for q in server.asked(MESSAGES)] == [
        ("t0", "t290"), ("t100", "t290"), ("t200", "t290"), ("t290", "t290"),
    ]  # fmt: skip


def test_nothing_is_asked_for_where_nothing_is_left_out(server) -> None:
    gap(server, 5, limited=False)
    run = follow(server, reached("t5"), log=known())
    assert run.texts == ["m4"]
    assert server.asked(MESSAGES) == []


def test_the_position_moves_after_the_last_page(server) -> None:
    """Each page is in the log, with its progress, before the next is asked for."""
    gap(server, 250, limited=True)
    log = known()
    log.before_append = lambda: log.journal.append(f"{json.loads(log.points['position'])['since']} {len(log.records)}")
    run = follow(server, reached("t250"), log=log)
    assert [line for line in log.journal if line != "appended"][:5] == ["t0 0", "t0 1", "t0 2", "t0 3", "t0 3"]
    assert run.since == "t250"
    assert not [part for part in log.points if part.startswith(GAP)]


def test_a_stop_in_the_middle_goes_on_at_its_page(server) -> None:
    words = gap(server, 350, limited=True)
    log = known()
    log.before_append = lambda: log.refusals.append(LogError("full")) if len(log.records) >= 2 else None
    first = follow(server, lambda run: run.health.last_error, log=log)
    assert first.texts == words[:200]
    log.before_append, log.refusals = (lambda: None), []
    second = follow(server, reached("t350"), log=log)
    assert second.texts == words
    assert [query["from"] for query in server.asked(MESSAGES)].count("t200") == 2, "held, then asked for again"


def test_what_came_while_it_stood_still_is_read_too(server) -> None:
    """After a stop the same `since` is answered with more: the old page goes on up to what is shown now."""
    gap(server, 250, limited=True)
    log = known()
    log.points[f"{GAP}{ROOM}"] = b'{"since":"t0","start":"t100","version":1}'
    words = gap(server, 400, limited=True)
    run = follow(server, reached("t400"), log=log)
    assert run.texts == words[100:]


def test_progress_of_another_answer_does_not_count(server) -> None:
    words = gap(server, 150, limited=True)
    log = known()
    log.points[f"{GAP}{ROOM}"] = b'{"since":"t-9","start":"t140","version":1}'
    assert follow(server, reached("t150"), log=log).texts == words


def test_a_failure_in_the_middle_repeats_nothing_that_is_in_the_log(server) -> None:
    words = gap(server, 350, limited=True)
    server.script[MESSAGES] = []
    log = known()
    log.before_append = lambda: server.script.update(
        {MESSAGES: [{"status": 500, "body": {}}] * (len(log.records) == 1)}
    )
    run = follow(server, reached("t350"), log=log)
    assert run.texts == words
    assert run.health.restarts >= 1


def test_a_room_whose_past_is_not_for_us_costs_its_gap(server, capsys) -> None:
    """A kick may come between the answer and the page; other rooms go on."""
    gap(server, 20, limited=True)
    server.history.clear()
    server.answers["t0"]["rooms"]["join"]["!other:hs.test"] = room(said(99))
    log = MemoryLog(points=points("t0", **{ROOM: "", "!other:hs.test": ""}))
    run = follow(server, reached("t20"), log=log)
    assert run.texts == ["m19", "m99"]
    assert "is not for us: the homeserver refuses" in capsys.readouterr().out


def test_a_server_that_repeats_a_page_does_not_hold_the_source(server) -> None:
    gap(server, 3, limited=True)
    server.script[MESSAGES] = [{"body": {"chunk": [said(0)], "end": "t0"}}] * 5
    run = follow(server, reached("t3"), log=known())
    assert run.texts == ["m0", "m2"]


@pytest.mark.parametrize("page", [{}, {"chunk": None}, {"chunk": {}, "end": 7}, {"chunk": [None, "x"], "end": None}])
def test_a_page_without_its_shape_costs_itself(server, page) -> None:
    gap(server, 3, limited=True)
    server.script[MESSAGES] = [{"body": page}]
    assert follow(server, reached("t3"), log=known()).texts == ["m2"]


def test_a_new_room_is_read_from_its_beginning(server) -> None:
    """Joined between two answers: its history comes before what is shown."""
    words = gap(server, 120, limited=True)
    run = follow(server, reached("t120"), log=MemoryLog(points=points("t0")))
    assert run.texts == words
    assert "from" not in server.asked(MESSAGES)[0]
    assert run.log.points["rooms"]


def test_a_new_room_from_now_on_is_read_since_the_last_answer(server) -> None:
    gap(server, 120, limited=True)
    follow(server, reached("t120"), log=MemoryLog(points=points("t0")), backfill="now")
    assert server.asked(MESSAGES)[0]["from"] == "t0"


def test_a_back_fill_goes_on_after_a_stop(server) -> None:
    """The first answer has no position yet: its progress has."""
    told = [said(number) for number in range(250)]
    server.history[ROOM] = told
    server.answers[""] = answer("t250", join={ROOM: room(told[-1], limited=True, prev_batch="t249")})
    log = MemoryLog()
    log.before_append = lambda: log.refusals.append(LogError("full")) if len(log.records) >= 1 else None
    follow(server, lambda run: run.health.last_error, log=log)
    log.before_append, log.refusals = (lambda: None), []
    run = follow(server, reached("t250"), log=log)
    assert run.texts == [f"m{number}" for number in range(250)]


def test_what_a_gap_has_already_is_not_given_twice(server) -> None:
    """Synapse's `prev_batch` lies behind what it shows of a room that it shows whole (measured)."""
    told = [said(number) for number in range(5)]
    server.history[ROOM] = told
    server.answers["t0"] = answer("s1", join={ROOM: room(*told, said(9), limited=True, prev_batch="t5")})
    run = follow(server, reached("s1"), log=known())
    assert run.texts == ["m0", "m1", "m2", "m3", "m4", "m9"]
    assert run.log.counts["duplicate"] == 5


@pytest.mark.parametrize("prev_batch", [None, 7, ""])
def test_a_gap_without_an_end_is_told(server, capsys, prev_batch) -> None:
    """Nothing can be asked for then, and nothing is passed over in silence."""
    server.answers["t0"] = answer("s1", join={ROOM: room(said(1), limited=True, prev_batch=prev_batch)})
    assert follow(server, reached("s1"), log=known()).texts == ["m1"]
    assert "the homeserver does not say where it begins" in capsys.readouterr().out


def test_empty_pages_of_a_long_past_are_passed(server) -> None:
    """What a member may not see is left out of a page, which is no end."""
    gap(server, 3, limited=True)
    server.script[MESSAGES] = [{"body": {"chunk": [], "end": "t1"}}]
    assert follow(server, reached("t3"), log=known()).texts == ["m1", "m2"]


def test_memory_does_not_follow_the_gap(server) -> None:
    """One page is held at a time."""
    gap(server, 2000, limited=True)
    log = known()
    sizes: list[int] = []
    log.before_append = lambda: sizes.append(len(server.asked(MESSAGES)))
    run = Run(server, log=log)(reached("t2000"))
    assert len(run.texts) == 2000
    assert sizes[:20] == list(range(1, 21)), "a page is asked for when the one before is in the log"
