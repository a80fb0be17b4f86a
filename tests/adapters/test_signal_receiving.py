"""Nothing is asked for that the log would not take, and no envelope that was handed out is lost by what comes after."""

import asyncio
import json

import pytest

from adapters.chat.signal_address import Address
from ingest.health import SourceState
from ingest.log.contract import LogError
from tests.support.fake_signal import ACCOUNT, FakeSignal
from tests.support.messengers import case
from tests.support.signal_live import envelope, line
from tests.support.signal_run import Run, has, words
from tests.support.sources import MemoryLog


@pytest.fixture
def daemon():
    with FakeSignal() as fake:
        yield fake


def subscribed(run: Run) -> object:
    return run.daemon.subscriptions


def test_what_came_while_nobody_read_is_read(daemon, tmp_path) -> None:
    """Case 49: in manual mode both messages come."""
    given = json.loads(case(49))
    daemon.add(given["M1"]["params"])
    first = Run(daemon, tmp_path)(has("m1"))
    assert daemon.subscriptions == 0
    daemon.add(given["M2"]["params"])
    assert len(daemon.delivered) == 1
    assert Run(daemon, tmp_path, first.log)(has("m1", "m2"))


def test_a_daemon_that_receives_on_its_own_is_warned_of(tmp_path, capsys) -> None:
    """Case 49: M1 is lost, M2 comes once, and the source says at its start that it cannot keep what it promises."""
    given = json.loads(case(49))
    with FakeSignal(on_start=True) as daemon:
        daemon.add(given["M1"]["params"])
        assert len(daemon.delivered) == 1
        run = Run(daemon, tmp_path)
        run(subscribed, lambda run: run.daemon.add(given["M2"]["params"]) or True, has("m2"))
    assert "--receive-mode=manual" in capsys.readouterr().out


def test_nothing_is_asked_for_before_the_log_accepts(daemon, tmp_path) -> None:
    daemon.add(words(1, "one"))
    log = MemoryLog(refusals=[LogError("full")] * 10_000)
    run = Run(daemon, tmp_path, log)(lambda run: run.health.state is SourceState.BACKING_OFF)
    assert (daemon.calls, daemon.delivered) == ([], [])
    log.refusals.clear()
    assert run(has("one")).texts == ["one"]


def test_a_log_that_refuses_ends_the_subscription_and_one_that_is_back_renews_it(daemon, tmp_path) -> None:
    """What came until then waits in the journal, what comes after at Signal's server; all of it comes, in order."""
    log = MemoryLog()
    run = Run(daemon, tmp_path, log)
    run(
        subscribed,
        lambda _: log.refusals.extend([LogError("full")] * 10_000) or daemon.add(words(1, "one")) or True,
        lambda _: daemon.subscriptions == 0,
        lambda _: daemon.add(words(2, "two")) or True,
        lambda _: len(daemon.delivered) == 1 and log.refusals.clear() is None,
        has("one", "two"),
    )
    assert daemon.calls[:5] == [
        "listAccounts", "unsubscribeReceive", "subscribeReceive", "unsubscribeReceive", "subscribeReceive"
    ]  # fmt: skip


def test_what_was_handed_out_outlives_a_stop_while_the_log_refuses(daemon, tmp_path) -> None:
    log = MemoryLog()
    daemon.add(words(1, "one"))
    log.before_append = lambda: log.refusals.append(LogError("full")) if daemon.delivered else None
    Run(daemon, tmp_path, log)(lambda run: run.health.state is SourceState.BACKING_OFF)
    assert (len(daemon.delivered), log.records) == (1, [])
    log.refusals.clear()
    again = MemoryLog(points=log.points)
    assert Run(daemon, tmp_path, again)(has("one")).texts == ["one"]


def test_half_a_line_belongs_to_its_connection(daemon, tmp_path) -> None:
    """Case 55: reconnected and subscribed again; one line in two segments, two lines in one."""
    given = json.loads(case(55))
    first, second = (line(given[name]["params"]) + b"\n" for name in ("n1", "n2"))
    run = Run(daemon, tmp_path)
    run(
        subscribed,
        lambda _: daemon.send_raw(b'{"jsonrpc":"2.0","method":"rece') or daemon.close_all() or True,
        lambda run: run.health.restarts and daemon.subscriptions,
        lambda _: daemon.send_raw(first[:40]) or True,
        lambda _: daemon.send_raw(first[40:]) or True,
        has("um"),
        lambda _: daemon.send_raw(second + line(words(9, "três")) + b"\n") or True,
        has("um", "dois", "três"),
    )
    assert "in the middle of a line, of which 31 bytes had come" in str(run.health.last_error)
    assert not any(name.startswith("rejected") for name in run.log.counts)


def test_a_silent_connection_is_found_out(daemon, tmp_path, monkeypatch) -> None:
    """Case 55: half-open: no data, no end; the source asks, hears nothing, and says so."""
    monkeypatch.setattr("adapters.chat.signal_rpc.CALL_SECONDS", 0.2)
    run = Run(daemon, tmp_path)
    run(
        subscribed,
        lambda _: setattr(daemon, "mute", True) or True,
        lambda run: run.health.last_error,
        lambda _: setattr(daemon, "mute", False) or daemon.add(words(1, "one")) or True,
        has("one"),
    )
    assert "does not answer: version" in str(run.health.last_error)


def test_long_lines_are_read(daemon, tmp_path) -> None:
    """Case 55: asyncio's own limit is 64 KiB."""
    long = "x" * 300_000
    daemon.add(words(1, long), words(2, "after"))
    assert Run(daemon, tmp_path)(has(long, "after"))


def test_garbage_costs_itself(daemon, tmp_path) -> None:
    run = Run(daemon, tmp_path)
    run(
        subscribed,
        lambda _: daemon.send_raw(b"garbage\n[1]\n\n") or daemon.add(words(1, "one")) or True,
        has("one"),
    )
    assert run.log.counts["rejected"] == 2


def test_typing_costs_no_disk_sync(daemon, tmp_path) -> None:
    daemon.add(envelope(1, "typingMessage", {"action": "STARTED"}, dataMessage=...), words(2, "one"))
    run = Run(daemon, tmp_path)(has("one"))
    assert json.loads(run.log.points["position"])["number"] == 1


def test_an_unknown_account_needs_a_person(daemon, tmp_path) -> None:
    daemon.accounts = ["+1999"]
    run = Run(daemon, tmp_path)(lambda run: run.health.state is SourceState.FAILED)
    assert f"no account {ACCOUNT} (it has: +1999)" in str(run.health.last_error)


def test_a_socket_and_a_daemon_for_one_account(tmp_path) -> None:
    with FakeSignal(tmp_path / "s", single=True) as daemon:
        daemon.add(words(1, "one"))
        assert Run(daemon, tmp_path)(has("one"))
        found = asyncio.run(Run(daemon, tmp_path).adapter.check())
        assert {finding.level for finding in found} == {"ok"}


def test_a_check_makes_no_subscription_and_takes_nothing(daemon, tmp_path) -> None:
    daemon.add(words(1, "one"))
    found = asyncio.run(Run(daemon, tmp_path).adapter.check())
    assert [finding.level for finding in found] == ["ok"] * 4
    assert (len(daemon.waiting), "subscribeReceive" in daemon.calls) == (1, False)


def test_a_check_says_what_is_wrong(daemon, tmp_path) -> None:
    source = Run(daemon, tmp_path).adapter
    daemon.on_start = True
    (warning,) = [each for each in asyncio.run(source.check()) if each.level == "warning"]
    assert "--receive-mode=manual" in warning.advice
    daemon.accounts = []
    assert "has no account" in asyncio.run(source.check())[-1].what
    source.address = Address.of(str(tmp_path / "nowhere"))
    assert "cannot be reached" in asyncio.run(source.check())[-1].what
