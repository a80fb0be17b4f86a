"""The offset follows what is in the log, whatever the server answers: nothing pending is dropped, no pause skipped."""

import asyncio
import json
import logging
import time
from collections.abc import Callable, Iterator

import pytest

from adapters.chat.telegram import TelegramSource
from adapters.contract import Finding
from ingest.capture import Capturing, Pauses
from ingest.health import Health, SourceHealth, SourceState
from ingest.log.contract import LogError
from ingest.metrics import Metrics
from schemas.captured import decode_record
from tests.support.fake_botapi import POLLER, TOKEN, WEBHOOK, FakeBotApi
from tests.support.messengers import case
from tests.support.sources import MemoryLog, until
from tests.support.telegram import update

FAST = Pauses(first=0.02, longest=0.2, permanent=0.05)
PRIVATE = {"id": 7, "type": "private"}


@pytest.fixture
def server() -> Iterator[FakeBotApi]:
    with FakeBotApi() as fake:
        yield fake


def source(server: FakeBotApi, token: str = TOKEN, wait_seconds: int = 1) -> TelegramSource:
    return TelegramSource("telegram.ops", "ops", lambda: token, url=server.url, wait_seconds=wait_seconds)


class Run:
    """A source that is followed into a log in memory, until a condition holds."""

    def __init__(self, server: FakeBotApi, log: MemoryLog | None = None, **options) -> None:
        self.server, self.log = server, log or MemoryLog()
        self.adapter = source(server, **options)
        self.metrics = Metrics()

    def __call__(self, condition: Callable[["Run"], object]) -> "Run":
        asyncio.run(self._follow(condition))
        return self

    async def _follow(self, condition: Callable[["Run"], object]) -> None:
        whole = Health()
        capturing = Capturing(self.log, [self.adapter], whole, self.metrics, pauses=FAST)
        self.health: SourceHealth = whole.sources["telegram.ops"]
        capturing.start()
        try:
            await until(lambda: condition(self))
        finally:
            await capturing.stop()

    @property
    def texts(self) -> list[str]:
        records = [decode_record(r.value) for r in self.log.records if r.topic.endswith("captured")]
        return [event.text for record in records for event in record.events]

    @property
    def offset(self) -> int:
        return json.loads(self.log.points["position"])["offset"] if "position" in self.log.points else 0


def follow(server: FakeBotApi, condition: Callable[[Run], object], **options) -> Run:
    return Run(server, **options)(condition)


def confirmed(number: int) -> Callable[[Run], object]:
    """Whether an update is confirmed at the server."""
    return lambda run: number not in run.server.pending


def test_nothing_is_confirmed_before_the_log_has_it(server) -> None:
    """Case 01: while the log refuses, nothing above what it has is asked for; after that all comes, in order."""
    server.queue += json.loads(case(1))["server_queue"]
    log = MemoryLog(refusals=[LogError("broker error")] * 10_000)
    first = follow(server, lambda run: run.health.state is SourceState.BACKING_OFF, log=log)
    assert (max(server.offsets), server.pending, first.offset) == (0, [501, 502, 503], 0)
    assert first.health.last_error == "the log refuses: broker error"
    assert len(server.offsets) == 1, "one batch is held, however long the log refuses"
    log.refusals.clear()
    second = follow(server, confirmed(503), log=log)
    assert second.texts == ["one", "two", "three"]
    assert (second.offset, max(server.offsets)) == (504, 504)


def test_a_refusal_in_the_middle_keeps_the_offset(server) -> None:
    """Case 01: each batch moves the offset when it is appended, not when it comes."""
    server.queue += [update(number) for number in range(1, 251)]
    log = MemoryLog()
    log.before_append = lambda: log.refusals.append(LogError("full")) if len(log.journal) >= 1 else None
    run = follow(server, lambda run: run.health.state is SourceState.BACKING_OFF, log=log)
    assert (run.offset, max(server.offsets), server.pending[0]) == (101, 101, 101)
    assert len(run.texts) == 100


def test_what_came_while_nobody_read_is_read(server) -> None:
    """Case 03: no negative offset, no call that drops anything."""
    server.queue += json.loads(case(3))["server_queue"]
    run = follow(server, confirmed(602))
    assert run.texts == ["while down 1", "while down 2"]
    assert min(server.offsets) >= 0
    assert {method for method, _ in server.requests} == {"getme", "getupdates"}
    assert not any("drop_pending_updates" in asked for _, asked in server.requests)


def test_a_gap_is_told_with_both_numbers(server, capsys) -> None:
    """Case 03: the server forgets after about a day."""
    log = MemoryLog(points={"position": b'{"bot":4242,"offset":501,"time":0,"version":1}'})
    server.queue += [update(601)]
    follow(server, confirmed(601), log=log)
    assert "updates 501 to 600 never came" in capsys.readouterr().out


def test_a_server_that_counts_anew_is_followed(server) -> None:
    """After a week of silence numbers go on anywhere, often below the offset: keeping the highest loops for ever."""
    log = MemoryLog(points={"position": b'{"bot":4242,"offset":727334708,"time":0,"version":1}'})
    server.queue += [update(117314199, text="low")]
    run = follow(server, confirmed(117314199), log=log)
    assert (run.texts, run.offset) == (["low"], 117314200)


def test_another_bot_begins_at_what_is_there(server) -> None:
    """Its numbers are its own: the old offset could confirm what was never read."""
    log = MemoryLog(points={"position": b'{"bot":1,"offset":900,"time":0,"version":1}'})
    server.queue += [update(895)]
    run = follow(server, confirmed(895), log=log)
    assert (run.texts, server.offsets[0]) == (["words"], 0)


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff", b'{"bot": "x"}', b'{"bot":4242,"offset":9,"version":2}'])
def test_a_damaged_position_costs_a_repeat(server, damage) -> None:
    server.queue += [update(5)]
    run = follow(server, confirmed(5), log=MemoryLog(points={"position": damage, "topics": damage}))
    assert (run.texts, server.offsets[0], run.offset) == (["words"], 0, 6)


def test_a_poisoned_update_is_passed_once(server) -> None:
    """Case 05: no second poll of it, no spinning."""
    server.queue += json.loads(case(5))["result"]
    run = follow(server, confirmed(804))
    assert run.texts == ["before", "after", "[holographic_call]"]
    assert run.log.counts["rejected:no-date"] == 1
    assert (server.polls[0], run.offset) == ((0, [801, 802, 803, 804]), 805)


def test_updates_without_ids_are_not_polled_without_a_pause(server) -> None:
    """Nothing can confirm them; the source says so and comes back with growing pauses."""
    server.queue += [{"message": {}}]
    run = follow(server, lambda run: run.health.restarts >= 3)
    assert "without ids" in str(run.health.last_error)
    assert (run.texts, run.log.points) == ([], {})


def test_a_server_that_hears_no_offset_is_not_polled_without_a_pause(server) -> None:
    server.deaf = True
    server.queue += [update(5), update(6)]
    run = follow(server, lambda run: run.health.restarts >= 3)
    assert "gives what was confirmed again" in str(run.health.last_error)
    assert len(server.polls) <= 2 * (run.health.restarts + 1)


def test_a_second_poller_is_a_conflict_that_passes(server) -> None:
    """Case 15: growing pauses, a reason in words, no crash, no offset change; then the update comes once."""
    answers = json.loads(case(15))["server_answers"]
    server.script += [{"status": a["status"], "text": a["body"]["description"]} for a in answers[:3]]
    server.queue += answers[3]["body"]["result"]
    run = follow(server, confirmed(31))
    assert run.texts == ["hi"]
    assert run.health.last_error == "conflict: another program polls with this token: stop it, or give each its own bot"
    assert (run.health.restarts, set(server.offsets)) == (3, {0, 32})


def test_a_webhook_is_left_alone(server) -> None:
    """Case 15: a 409 that speaks of a webhook is a mistake of configuration that only a person can mend."""
    server.webhook["url"] = "https://example.test/hook"
    run = follow(server, lambda run: run.health.state is SourceState.FAILED)
    assert "a webhook is set" in str(run.health.last_error)
    assert {method for method, _ in server.requests} == {"getme", "getupdates"}
    server.webhook["url"] = ""


def test_two_real_pollers_do_not_lose_anything(server) -> None:
    """Both use one token; each update is confirmed by whoever has it in its log."""

    async def run() -> list[Run]:
        pair = [Run(server, wait_seconds=1), Run(server, wait_seconds=1)]
        stop = asyncio.Event()
        tasks = [asyncio.create_task(each._follow(lambda _: stop.is_set())) for each in pair]
        for number in range(1, 21):
            server.add(update(number, text=f"t{number}"))
            await asyncio.sleep(0.05)
        await until(lambda: not server.pending, 30)
        stop.set()
        await asyncio.gather(*tasks)
        return pair

    both = asyncio.run(run())
    assert {text for each in both for text in each.texts} == {f"t{number}" for number in range(1, 21)}


def test_a_pause_that_is_asked_for_is_kept(server) -> None:
    server.script += [{"status": 429, "text": "Too Many Requests", "parameters": {"retry_after": 1}}]
    server.queue += [update(5)]
    times: list[float] = []
    server.on_poll = lambda _: times.append(time.monotonic())
    run = follow(server, confirmed(5))
    assert times[1] - times[0] >= 1.0
    assert run.health.last_error == "Telegram asks for a pause of 1 s: too many requests"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"status": 500, "text": "Internal"}, "in trouble: 500 Internal"),
        ({"status": 502, "raw": "<html>"}, "in trouble: 502 no reason given"),
        ({"status": 200, "raw": "garbage"}, "is no JSON"),
        ({"status": 200, "raw": '{"ok": false}'}, "says that it is none"),
        ({"status": 200, "raw": '{"ok": true, "result": {"x": 1}}'}, "not what it should be"),
        ({"status": 200, "raw": '{"ok": true, "result": [{"update_id"'}, "is no JSON"),
        ({"status": 200, "raw": "[" * 100_000}, "is no JSON"),
        ({"status": 400, "text": "Bad Request: x"}, "refuses getUpdates: Bad Request: x"),
        ({"status": 429, "text": "x", "parameters": {"retry_after": "soon"}}, "asks for a pause of 0 s"),
        ({"status": 409, "text": POLLER}, "another program polls"),
    ],
)
def test_any_answer_that_is_none_is_tried_again(server, answer, words) -> None:
    server.script += [answer]
    server.queue += [update(5)]
    run = follow(server, confirmed(5))
    assert words in str(run.health.last_error)
    assert (run.texts, run.health.restarts) == (["words"], 1)


def test_an_answer_with_half_a_character_is_read(server) -> None:
    """Strict JSON refuses the whole answer for a lone surrogate in one update."""
    raw = json.dumps({"ok": True, "result": [update(5, text="a\ud800b"), update(6, text="c")]})
    server.script += [{"status": 200, "raw": raw}]
    run = follow(server, lambda run: run.offset == 7)
    assert run.texts == ["a\ufffdb", "c"]


def test_a_wrong_token_needs_a_person(server) -> None:
    run = follow(server, lambda run: run.health.state is SourceState.FAILED, token="4242:wrong")  # noqa: S106
    assert str(run.health.last_error).startswith("Telegram does not accept the token (401 Unauthorized)")


@pytest.mark.parametrize("token", ["", "nonsense", "12:", ":x", "12:a/../b", "x:y", "12:a b", "12:ä"])
def test_a_token_that_is_none_is_never_sent(server, token) -> None:
    run = follow(server, lambda run: run.health.state is SourceState.FAILED, token=token)
    assert "has not the form 123456:ABC-DEF" in str(run.health.last_error)
    assert server.requests == []


def test_a_server_that_is_away_is_waited_for(server) -> None:
    """The reason names what is wrong and not the address, which holds the token."""
    adapter = source(server)
    gone = TelegramSource("telegram.ops", "ops", lambda: TOKEN, url="http://127.0.0.1:9")
    run = Run(server)
    run.adapter = gone
    run(lambda run: run.health.restarts >= 2)
    assert "cannot be reached" in str(run.health.last_error)
    assert TOKEN not in str(run.health.last_error) + repr(adapter) + repr(gone)


def test_the_token_is_in_no_log(server, caplog, capsys) -> None:
    """The address of every request holds it."""
    server.queue += [update(5)]
    server.script += [{"status": 500, "text": f"about {TOKEN}"}]
    with caplog.at_level(logging.DEBUG):
        run = follow(server, confirmed(5))
    assert TOKEN not in caplog.text + "".join(capsys.readouterr())
    assert run.health.last_error == "Telegram is in trouble: 500 about TOKEN"


def test_owners_of_business_accounts_are_asked_for(server) -> None:
    """A connection that is not remembered: asked once, and remembered with the capture that needed it."""
    server.connections["bc1"] = 99
    members = {"chat": PRIVATE, "business_connection_id": "bc1", "from": {"id": 99}}
    server.queue += [update(5, "business_message", **members), update(6, "business_message", **members)]
    run = follow(server, confirmed(6))
    record = decode_record(run.log.records[0].value)
    assert (record.thread.account, record.events[0].role) == ("ops/business/99", "self")
    assert json.loads(run.log.points["connections"])["pairs"] == [["bc1", 99]]
    assert [method for method, _ in server.requests].count("getbusinessconnection") == 1


def test_an_announced_connection_is_not_asked_for(server) -> None:
    server.queue += json.loads(case(13))
    run = follow(server, confirmed(54))
    assert "getbusinessconnection" not in {method for method, _ in server.requests}
    assert len(run.texts) == 5


def test_all_kinds_of_conversations_are_asked_for(server) -> None:
    """Reactions and members come only when they are named, and what is asked for is remembered by the server."""
    follow(server, lambda _: server.polls)
    assert {"message", "message_reaction", "chat_member", "business_message"} <= set(server.allowed or [])
    assert "inline_query" not in set(server.allowed or [])


def test_a_source_that_has_nothing_says_so(server) -> None:
    """The first call does not wait, so that a start is over at once."""
    run = follow(server, lambda run: run.health.swept, wait_seconds=30)
    assert next(asked["timeout"] for method, asked in server.requests if method == "getupdates") == "0"
    assert run.log.journal == []


def check(server: FakeBotApi, **options) -> list[Finding]:
    return asyncio.run(source(server, **options).check())


def test_a_check_reads_nothing(server) -> None:
    server.queue += [update(5)]
    found = check(server)
    assert {f.level for f in found} == {"ok"}
    assert [f.what for f in found][1:3] == [
        "the token is that of @ingest_bot (4242)",
        "it reads no business accounts; @BotFather can allow that",
    ]
    assert found[-1].what == "updates that wait to be read: 1"
    assert {method for method, _ in server.requests} == {"getme", "getwebhookinfo"}


def test_a_check_names_what_stands_in_the_way(server) -> None:
    server.bot["can_read_all_group_messages"] = False
    server.webhook["url"] = "https://example.test/hook"
    assert [f.level for f in check(server)] == ["ok", "ok", "warning", "ok", "ok", "problem"]
    (_, problem) = check(server, token="4242:wrong")  # noqa: S106
    assert (problem.level, "does not accept the token" in problem.what) == ("problem", True)
    assert WEBHOOK not in problem.what
