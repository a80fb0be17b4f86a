"""The daemon as a person and a service manager meet it: starts, tails, answers, refuses a second one, stops cleanly."""

import json
import os
import pty
import signal
import socket
import subprocess
import sys
import time

import pytest

from tests.support.daemon import PROGRAM, Home, eventually, fetch, session_file, texts_by_thread


@pytest.fixture
def home(tmp_path):
    home = Home(tmp_path)
    yield home
    home.close()


def arrived(home, *files):
    return lambda: texts_by_thread(home) == {file.session: file.texts for file in files}


def test_a_growing_file_is_followed_and_a_stop_is_clean(home):
    """What was there at the start and each later line arrive once; SIGTERM ends with 0 within 10 s."""
    first = session_file(home, 1)
    first.append(3)
    home.start()
    eventually(arrived(home, first))
    second = session_file(home, 2)
    for _ in range(3):
        first.append()
        second.append()
        eventually(arrived(home, first, second))
    assert home.stop(seconds=10) == 0
    assert json.loads(home.errors().splitlines()[-1])["event"] == "stopped"


def test_what_was_written_while_nothing_ran_arrives_at_the_next_start(home):
    file = session_file(home, 1)
    file.append(2)
    home.start()
    eventually(arrived(home, file))
    home.stop()
    file.append(2)
    home.start()
    eventually(arrived(home, file))


def test_ctrl_c_stops_as_sigterm_does(home):
    home.start()
    assert home.stop(signal.SIGINT, seconds=10) == 0


def test_a_stop_in_the_middle_of_a_long_history_loses_and_doubles_nothing(home):
    """B38, B42: the rest is read at the next start."""
    files = [session_file(home, number) for number in range(3)]
    for file in files:
        file.append(2000)
    home.start(wait=False)
    eventually(lambda: sum(map(len, texts_by_thread(home).values())) > 100)
    assert home.stop(seconds=10) == 0
    home.start()
    eventually(arrived(home, *files), 60)


def test_a_second_daemon_is_refused_and_told_of_the_first(home):
    home.start()
    refused = home.command("run")
    assert refused.returncode == 1
    assert f"already running on {home.state}: process {home.process.pid}, since" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    assert home.ready(), "the first one does not mind"


def test_after_a_kill_the_next_one_starts(home):
    home.start()
    assert home.stop(signal.SIGKILL) == -signal.SIGKILL
    home.start()
    assert home.ready()


def test_health_readiness_and_metrics_answer(home):
    file = session_file(home, 1)
    file.append(2)
    home.start()
    eventually(arrived(home, file))
    assert fetch(f"{home.url}/healthz")[0] == 200
    status, body = fetch(f"{home.url}/readyz")
    assert (status, json.loads(body)["sources"]["pi"]["counts"]) == (200, {"seen": 2, "emitted": 2})
    status, body = fetch(f"{home.url}/metrics")
    assert 'ingest_events_published_total{source="pi",topic="conversations.captured"} 2.0' in body
    assert 'processor_lag_messages{partition="0",processor="normalize",topic="conversations.captured"} 0.0' in body
    assert fetch(f"{home.url}/metrics", host="evil.example")[0] == 421


def test_a_file_in_the_drop_folder_joins_the_stream(home):
    file = session_file(home, 1)
    file.append(2)
    home.variables["SESSION_INGEST__SOURCES__PI__ENABLED"] = "false"
    home.start()
    drop = home.path / "session-triage-drop"
    file.path.rename(drop / "dropped.jsonl")
    eventually(arrived(home, file))
    report = eventually((drop / "done" / "dropped.jsonl.report.json").exists) and json.loads(
        (drop / "done" / "dropped.jsonl.report.json").read_text()
    )
    assert (report["emitted"], report["recognisedAs"]) == (2, "pi session")


def test_the_parts_run_as_two_processes_side_by_side(home):
    """One reads the sources, one processes; neither gets in the other's way, a third of either is refused."""
    file = session_file(home, 1)
    file.append(2)
    home.start("--only", "capture")
    other = Home.__new__(Home)
    other.__dict__.update(home.__dict__, process=None)
    other.start("--only", "process", wait=False)
    try:
        eventually(arrived(home, file))
        assert home.command("run", "--only", "process").returncode == 1
        assert other.stop() == 0
    finally:
        other.close()
    assert home.stop() == 0


def test_old_records_go_when_the_settings_say_so(home):
    file = session_file(home, 1)
    file.append(2)
    home.start()
    eventually(arrived(home, file))
    home.stop()
    time.sleep(1.1)
    home.variables["SESSION_INGEST__RETENTION__KEEP"] = "1s"
    home.start()
    eventually(lambda: texts_by_thread(home) == {}, 60)


@pytest.mark.parametrize(
    ("arguments", "variables", "status", "words"),
    [
        (
            ["--only", "web"],
            {},
            2,
            "--only web: this version has no such part yet; there are: capture, process, triage",
        ),
        (["--only", "wbe"], {}, 2, "--only wbe: there is no such part; there are: capture, process, triage"),
        ([], {"SESSION_INGEST__HTTP__PORT": "x"}, 2, "SESSION_INGEST__HTTP__PORT: must be a whole number, not 'x'"),
        (["--config", "/nowhere.toml"], {}, 2, "/nowhere.toml: there is no such file"),
        ([], {"SESSION_INGEST__STATE_DIR": "/dev/null/x"}, 1, "state directory /dev/null/x: Not a directory"),
    ],
)
def test_what_cannot_start_says_why_in_one_line(home, arguments, variables, status, words):
    home.variables.update(variables)
    result = home.command("run", *arguments)
    assert (result.returncode, result.stderr) == (status, f"session-ingest: {words}\n")


def test_a_port_in_use_is_no_silent_death(home):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        home.variables["SESSION_INGEST__HTTP__PORT"] = str(port)
        result = home.command("run")
    assert result.returncode == 1
    assert f"cannot listen on 127.0.0.1 port {port}: Address already in use; set http.port" in result.stderr


def test_a_log_that_is_none_is_refused_without_a_traceback(home):
    home.state.mkdir()
    (home.state / "log.db").write_bytes(b"no database" * 1000)
    for arguments in (["run"], ["run", "--check"], ["status"]):
        result = home.command(*arguments)
        assert result.returncode == 1
        assert result.stderr.startswith("session-ingest: ")
        assert "Traceback" not in result.stderr


def test_check_opens_the_state_and_says_what_would_be_read(home):
    """B16; before the first start, with a daemon, and after it."""
    before = home.command("run", "--check")
    assert before.returncode == 0
    assert "will be made at the first start" in before.stdout
    assert str(home.sessions.parent) in before.stdout
    assert not home.state.exists()
    home.start()
    assert f"running    process {home.process.pid}" in home.command("run", "--check").stdout
    home.stop()
    assert "log.db: 0 records" in home.command("run", "--check").stdout


def test_the_service_manager_hears_ready_and_stopping(home):
    address = home.path / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(address))
        manager.settimeout(30)
        home.variables.update(NOTIFY_SOCKET=str(address), WATCHDOG_USEC="600000")
        home.start(wait=False)
        heard: list[str] = []
        while heard.count("WATCHDOG=1") < 3 or "READY=1" not in heard:
            heard.append(manager.recv(4096).decode())
        assert home.stop() == 0
        manager.setblocking(False)
        try:
            while True:
                heard.append(manager.recv(4096).decode())
        except BlockingIOError:
            pass
    assert heard.index("READY=1") < heard.index("STOPPING=1")
    assert any(message.startswith("STATUS=0 events since start") for message in heard)


STUCK = """
import sys, time
import ingest.daemon, ingest.log.embedded as embedded
ingest.daemon.DRAIN_SECONDS = {limit}
embedded.EmbeddedSource.append = lambda *_: time.sleep(60)
sys.argv = ["session-ingest", "run"]
"""


@pytest.mark.parametrize(("limit", "signals", "status"), [(60, 2, 128 + signal.SIGTERM), (0.3, 1, 1)])
def test_a_stop_that_hangs_ends_by_a_second_signal_or_the_limit(home, limit, signals, status):
    """Nothing that was acknowledged depends on a clean end."""
    session_file(home, 1).append(1)
    code = STUCK.format(limit=limit) + PROGRAM[2]
    with home.output.open("ab") as output:
        home.process = subprocess.Popen([sys.executable, "-c", code], env=home.environment, stderr=output)
    eventually(lambda: home.url is not None and 'inflight_events{source="pi"} 1.0' in fetch(f"{home.url}/metrics")[1])
    for _ in range(signals - 1):
        home.process.send_signal(signal.SIGTERM)
        eventually(lambda: '"stopping"' in home.errors())
    assert home.stop(seconds=10) == status


def test_a_person_at_a_terminal_is_told_where_everything_is(home):
    master, slave = pty.openpty()
    try:
        home.process = subprocess.Popen([*PROGRAM, "run"], env=home.environment, stderr=slave, stdout=slave)
        eventually(home.ready)
        assert home.stop() == 0
        said = os.read(master, 65536).decode()
    finally:
        os.close(master)
        os.close(slave)
    for words in ("stop it with Ctrl-C", str(home.state / "log.db"), "/metrics", "session-triage --log", "drop "):
        assert words in said


@pytest.mark.parametrize("variables", [{"SESSION_INGEST__HTTP__ENABLED": "false"}])
def test_without_http_everything_else_works(home, variables):
    home.variables.update(variables)
    file = session_file(home, 1)
    file.append(1)
    home.start(wait=False)
    eventually(arrived(home, file))
    assert home.stop() == 0
