"""Over HTTP the stream of events is the subscription: the same promises as over a socket."""

import asyncio
import json
from itertools import count

import pytest

from adapters.chat.signal import SignalSource
from adapters.chat.signal_address import Address
from adapters.chat.signal_intake import Patience
from ingest.health import SourceState
from ingest.log.contract import LogError
from tests.support.fake_signal import ACCOUNT
from tests.support.fake_signal_http import FakeSignalHttp
from tests.support.messengers import case
from tests.support.signal_live import data, envelope
from tests.support.signal_run import QUICK, Run, has, words
from tests.support.sources import MemoryLog


@pytest.fixture(params=[False, True], ids=["unnumbered", "numbered"])
def daemon(request):
    with FakeSignalHttp(numbered=request.param) as fake:
        yield fake


def read(run: Run) -> object:
    return run.daemon.readers


def test_what_came_while_nobody_read_is_read(daemon, tmp_path) -> None:
    """Case 49 over HTTP: in manual mode both messages come."""
    given = json.loads(case(49))
    daemon.add(given["M1"]["params"])
    first = Run(daemon, tmp_path)(has("m1"), read)
    daemon.close_all()
    daemon.add(given["M2"]["params"])
    assert len(daemon.delivered) == 1
    again = Run(daemon, tmp_path, first.log)(has("m1", "m2"))
    assert again.texts == ["m1", "m2"]
    assert "subscribeReceive" not in daemon.calls


def test_nothing_is_asked_for_before_the_log_accepts(daemon, tmp_path) -> None:
    daemon.add(words(1, "one"))
    log = MemoryLog(refusals=[LogError("full")] * 10_000)
    run = Run(daemon, tmp_path, log)(lambda run: run.health.state is SourceState.BACKING_OFF)
    assert (daemon.calls, daemon.delivered, daemon.asked_from) == ([], [], [])
    log.refusals.clear()
    assert run(has("one")).texts == ["one"]


def test_a_log_that_refuses_ends_or_holds_the_stream_and_one_that_is_back_goes_on(daemon, tmp_path) -> None:
    """Numbered: the stream ends; else signal-cli waits, as nothing could give again what it then writes to nobody."""
    log, numbers = MemoryLog(), count(2)
    run = Run(daemon, tmp_path, log)

    def backed_up(_: Run) -> bool:
        if log.journal[-1] == "refused" and (daemon.readers == 0 or not daemon.numbered):
            daemon.add(words(next(numbers), "x" * 100_000))
        return len(daemon.waiting) > 20

    run(
        read,
        lambda _: log.refusals.extend([LogError("full")] * 10_000) or daemon.add(words(1, "one")) or True,
        backed_up,
        lambda _: log.refusals.clear() is None,
        lambda run: len(run.texts) == len(daemon.delivered) and not daemon.waiting,
    )
    assert [len(text) for text in run.texts] == [3] + [100_000] * (len(run.texts) - 1)
    # Back-off may end, and the stream with it, more than once before the log accepts; each time it goes on by number.
    assert len(daemon.asked_from) >= 2 if daemon.numbered else daemon.asked_from == ["0"]
    assert not any(name.startswith("rejected") for name in log.counts)


def test_a_broken_stream_is_joined_again_where_it_was(daemon, tmp_path) -> None:
    """Case 55 over HTTP: half an event belongs to its connection; a whole one in two pieces is one."""
    run = Run(daemon, tmp_path)
    daemon.add(words(1, "one"))
    run(
        has("one"),
        lambda _: daemon.send_raw(b'event:receive\ndata:{"envel') or daemon.close_all() or True,
        lambda run: run.health.restarts and daemon.readers,
        lambda _: daemon.add(words(2, "two")) or True,
        has("one", "two"),
    )
    assert "in the middle of an event, of which" in str(run.health.last_error)
    assert daemon.asked_from == ["0", daemon.kept[0][0] if daemon.numbered else "0"]


def test_events_written_to_a_reader_that_was_gone_come_again_where_they_are_numbered(tmp_path) -> None:
    with FakeSignalHttp(numbered=True, keep_alive=30) as daemon:
        daemon.add(words(1, "one"))
        first = Run(daemon, tmp_path)(has("one"))
        assert daemon.readers == 1, "it has not noticed"
        daemon.add(words(2, "two"))
        daemon.add(words(3, "three"))
        assert Run(daemon, tmp_path, first.log)(has("one", "two", "three"))


def test_a_daemon_that_started_anew_gives_what_it_has(tmp_path) -> None:
    """It does not know the number of the one before; repeats have the same ids."""
    with FakeSignalHttp(numbered=True) as daemon:
        daemon.add(words(1, "one"))
        first = Run(daemon, tmp_path)(has("one"))
        daemon.close_all()
        daemon.kept.clear()
        daemon.start = "1800000000000-"
        daemon.add(words(2, "two"))
        assert Run(daemon, tmp_path, first.log)(has("one", "two"))


def test_a_silent_stream_is_found_out(daemon, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("adapters.chat.signal_http.SILENT_SECONDS", 0.3)
    run = Run(daemon, tmp_path, patience=Patience(log=0.1, tick=0.02, silence=30))
    run(
        read,
        lambda _: setattr(daemon, "mute", True) or True,
        lambda run: "was silent" in str(run.health.last_error),
        lambda _: setattr(daemon, "mute", False) or daemon.asked_from.clear() is None,
        lambda _: daemon.asked_from and daemon.readers == 1,
        lambda _: daemon.add(words(1, "one")) or True,
        has("one"),
    )


def test_long_texts_and_garbage(daemon, tmp_path) -> None:
    long = "x" * 300_000
    daemon.add(words(1, long))
    run = Run(daemon, tmp_path)
    run(
        has(long),
        lambda _: daemon.send_raw(b"event:receive\ndata:garbage\n\nunknown:x\r\n:\r\n\r\n") or True,
        lambda _: daemon.send_raw(b"event:callEvent\ndata:{}\n\ndata\n\ndata:[1]\n\n") or True,
        lambda _: daemon.add(words(2, "after")) or True,
        has(long, "after"),
    )
    assert run.log.counts["rejected"] == 2, "an event without data is one too"


@pytest.mark.parametrize("single", [False, True])
def test_a_check_reads_no_events(single, tmp_path) -> None:
    with FakeSignalHttp(single=single) as daemon:
        daemon.add(words(1, "one"))
        found = asyncio.run(Run(daemon, tmp_path).adapter.check())
        assert [each.level for each in found] == ["ok"] * 4 + ["warning"]
        assert "after 0.14.6" in found[-1].advice
        assert (len(daemon.waiting), daemon.asked_from) == (1, [])
    with FakeSignalHttp(numbered=True, single=single) as daemon:
        found = asyncio.run(Run(daemon, tmp_path).adapter.check())
        assert {each.level for each in found} == {"ok"}
        assert "--receive-mode=manual" in found[-1].advice


def test_a_check_says_what_is_wrong(daemon, tmp_path) -> None:
    daemon.accounts = []
    source = Run(daemon, tmp_path).adapter
    assert "has no account" in asyncio.run(source.check())[-1].what
    daemon.close_all()
    daemon.__exit__()
    last = asyncio.run(source.check())[-1]
    assert "cannot be reached" in last.what
    assert "--http" in last.advice


def test_an_account_that_is_taken_away_needs_a_person(daemon, tmp_path) -> None:
    run = Run(daemon, tmp_path)
    run(
        read,
        lambda _: daemon.accounts.clear() or daemon.close_all() or True,
        lambda run: run.health.state is SourceState.FAILED,
    )
    assert f"no account {ACCOUNT}" in str(run.health.last_error)


def test_another_server_is_said_to_be_none(tmp_path) -> None:
    """A `--tcp` address with `http://` before it, and the other way round."""
    with FakeSignalHttp() as daemon:
        tcp = SignalSource(
            "signal.ops", ACCOUNT, Address.of(daemon.address.removeprefix("http://")), tmp_path / "j", QUICK
        )
        assert "closed the connection" in asyncio.run(tcp.check())[-1].what


def test_a_restart_repeats_nothing(daemon, tmp_path) -> None:
    daemon.add(*(words(number, f"t{number}") for number in range(1, 31)))
    first = Run(daemon, tmp_path)(lambda run: len(run.texts) == 30)
    daemon.close_all()
    daemon.add(envelope(99, body=data(99, "last")))
    again = Run(daemon, tmp_path, first.log)(lambda run: "last" in run.texts)
    assert again.texts == [*(f"t{number}" for number in range(1, 31)), "last"]
