"""`kill -9` at any moment while files grow: after the last start each line is there once, in order per thread."""

import os
import random
import threading
import time

import pytest

from tests.support.daemon import Home, SessionFile, Zygote, eventually, session_file, texts_by_thread
from tests.support.kills import kill_at_random

KILLS = int(os.environ.get("SESSION_TRIAGE_TEST_KILLS", "50"))
"""`make bench` and `make soak` set more."""

FILES = 4


class Writer(threading.Thread):
    """Appends to several files in turn, half of the lines in two pieces, until told to stop."""

    def __init__(self, files: list[SessionFile], seed: int) -> None:
        super().__init__()
        self._files = files
        self._random = random.Random(seed)
        self._stop_now = threading.Event()

    def run(self) -> None:
        while not self._stop_now.wait(self._random.uniform(0.0, 0.01)):
            file = self._random.choice(self._files)
            torn = self._random.random() < 0.5
            file.append(self._random.randint(1, 3), between=(lambda: time.sleep(0.002)) if torn else None)

    def finish(self) -> None:
        self._stop_now.set()
        self.join()


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path, {"SESSION_INGEST__LOG__LEVEL": "warning"})


@pytest.mark.parametrize("seed", [pytest.param(1, id=f"{KILLS}-kills")])
def test_every_line_exactly_once_and_in_order_after_random_kills(home, seed):
    """Torn lines, four files at once, kills from the first milliseconds of a start on."""
    files = [session_file(home, number) for number in range(FILES)]
    chance = random.Random(seed)
    zygote, writer = Zygote(home), Writer(files, seed)
    try:
        writer.start()
        kill_at_random(zygote, chance, KILLS, lambda: texts_by_thread(home))
        writer.finish()
        seen_before = sum(map(len, texts_by_thread(home).values()))
        assert seen_before > 0, "no daemon lived long enough to be killed at work"
        pid = zygote.start()
        try:
            eventually(lambda: sum(map(len, texts_by_thread(home).values())) >= sum(file.written for file in files), 60)
        finally:
            zygote.kill(pid)
    finally:
        writer.finish()
        zygote.close()
    assert texts_by_thread(home) == {file.session: file.texts for file in files}
    assert home.errors() == ""
