"""The service manager hears what sd_notify(3) asks for, on both kinds of socket; its absence is no trouble."""

import os
import socket
import uuid

import pytest

from ingest.notify import Notifier


@pytest.fixture(params=["path", "abstract"])
def manager(request, tmp_path):
    name = str(tmp_path / "s") if request.param == "path" else f"@{uuid.uuid4()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind("\0" + name[1:] if name[0] == "@" else name)
        listener.settimeout(5)
        yield listener, Notifier({"NOTIFY_SOCKET": name})


def test_each_message_is_one_datagram(manager):
    listener, notifier = manager
    sent = [
        notifier.ready(),
        notifier.status("a line\nREADY=1"),
        notifier.watchdog(),
        notifier.extend_timeout(1.5),
        notifier.stopping(),
    ]
    assert sent == [True] * 5
    heard = [listener.recv(4096).decode() for _ in sent]
    assert heard == ["READY=1", "STATUS=a line READY=1", "WATCHDOG=1", "EXTEND_TIMEOUT_USEC=1500000", "STOPPING=1"]


@pytest.mark.parametrize("address", ["", "/nowhere/s", "relative", "vsock:2:3"])
def test_without_a_manager_nothing_is_sent_and_nothing_fails(address):
    assert not Notifier({"NOTIFY_SOCKET": address}).ready()


@pytest.mark.parametrize(
    ("environment", "seconds"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "30000000"}, 30.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": str(os.getpid())}, 30.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
    ],
)
def test_the_watchdog_interval_is_taken_when_meant_for_this_process(environment, seconds):
    assert Notifier(environment).watchdog_seconds == seconds
