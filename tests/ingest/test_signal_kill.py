"""`kill -9` after an envelope is in the journal, at any later point: it is in the log exactly once, in its place."""

import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from ingest.log.contract import Topic
from ingest.log.embedded import EmbeddedLog
from schemas.captured import decode_record
from tests.support.daemon import ROOT
from tests.support.fake_signal import ACCOUNT, FakeSignal
from tests.support.fake_signal_http import FakeSignalHttp
from tests.support.signal_live import data, envelope, read

POINTS = ("after-journal", "before-append", "in-append", "after-append", "before-done", "after-done")
COUNT = 6
OVER = {"tcp": FakeSignal, "http": partial(FakeSignalHttp, numbered=True)}
"""A daemon without numbers loses what it writes to a reader that was killed: nobody on this side can help that."""

DYING = """
import asyncio, os, signal, sys
from pathlib import Path
from adapters.chat.signal import SignalSource
from adapters.chat.signal_address import Address
from adapters.chat.signal_journal import Journal
from ingest.capture import Capturing, Pauses
from ingest.health import Health
from ingest.log.embedded import EmbeddedLog, EmbeddedSource
from ingest.log import sources
from ingest.metrics import Metrics

folder, address, account, point, turn = sys.argv[1:]
left = {point: int(turn)}

def reach(name):
    left[name] = left.get(name, 0) - 1
    if left[name] == 0:
        os.kill(os.getpid(), signal.SIGKILL)

journal, appended, advanced, done = Journal.append, EmbeddedSource.append, sources.advance, Journal.done

def keep(self, lines):
    journal(self, lines)
    reach("after-journal")

def append(self, records, *arguments):
    if records:
        reach("before-append")
    appended(self, records, *arguments)
    if records:
        reach("after-append")

def advance(*arguments):
    advanced(*arguments)
    reach("in-append")  # the position is written; the records, and the commit of both, are not

def forget(self, number):
    reach("before-done")
    done(self, number)
    reach("after-done")

Journal.append, EmbeddedSource.append, sources.advance, Journal.done = keep, append, advance, forget

async def main():
    log = EmbeddedLog.open(Path(folder) / "log.db")
    source = SignalSource("signal.ops", account, Address.of(address), Path(folder) / "journal")
    capturing = Capturing(log, [source], Health(), Metrics(), pauses=Pauses(first=0.05))
    capturing.start()
    await asyncio.Event().wait()

asyncio.run(main())
"""


def captured(path: Path) -> list[tuple[str, str]]:
    """Text and id of every captured event, in order."""
    with EmbeddedLog.open(path, read_only=True) as log:
        records = [decode_record(record.value) for record in log.read(Topic.CAPTURED, 0, 10_000, 1 << 28)]
    return [(event.text, event.id) for record in records for event in record.events]


@pytest.mark.parametrize(
    ("over", "point"),
    [
        *(("tcp", point) for point in POINTS),
        *(("http", point) for point in ("after-journal", "in-append", "after-done")),
    ],
)
def test_every_envelope_is_in_the_log_exactly_once(over: str, point: str, tmp_path) -> None:
    """Envelopes come one by one, and each process dies on one of them; nothing is written twice or left out."""
    sent = [envelope(number, body=data(number, f"t{number}")) for number in range(1, COUNT + 1)]
    expected = [(element.event.text, element.event.id) for element in read(*sent)]
    deaths = 0
    with OVER[over]() as daemon:
        arguments = [str(tmp_path), daemon.address, ACCOUNT, point]
        for number, each in enumerate(sent):
            turn = "2" if point == "in-append" else "1"  # the first append says that the log accepts
            survives = number == COUNT - 1
            child = subprocess.Popen([sys.executable, "-c", DYING, *arguments, "999" if survives else turn], cwd=ROOT)
            try:
                daemon.add(each)
                ends = time.monotonic() + 30
                while child.poll() is None and time.monotonic() < ends:
                    if survives and captured(tmp_path / "log.db") == expected:
                        break
                    time.sleep(0.02)
                deaths += child.poll() == -9
            finally:
                child.kill()
                child.wait()
                daemon.close_all()
    assert captured(tmp_path / "log.db") == expected
    assert deaths == COUNT - 1
