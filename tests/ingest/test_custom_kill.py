"""`kill -9` of the daemon while senders post: what was answered with 2xx is there, once, in each sender's order.

A sender does what the contract says: it sends an event again until it is answered, and only then the next one.
"""

import json
import os
import random
import threading
import time
from http.client import HTTPException

import pytest

from tests.support.daemon import Home, Zygote, eventually, texts_by_thread
from tests.support.served import answers, free_port, send

KILLS = int(os.environ.get("SESSION_TRIAGE_TEST_KILLS", "50")) // 3
SENDERS = 4
TOKEN = "a-token-of-enough-characters"  # noqa: S105 - of a daemon that lives for one test
LONGEST_LIFE_SECONDS = 0.5
"""From the first answer on; a third of the daemons is killed earlier, while they start."""


class Sender(threading.Thread):
    """Posts numbered events of one thread, one at a time, now and then one that was answered long ago."""

    def __init__(self, number: int, url: str) -> None:
        super().__init__()
        self._number = number
        self._url = url
        self._random = random.Random(number)
        self._stop_now = threading.Event()
        self.answered = 0
        self.faults: list[int] = []

    @property
    def texts(self) -> list[str]:
        """What must be in the stream."""
        return [self._text(each) for each in range(self.answered)]

    def run(self) -> None:
        while not self._stop_now.is_set():
            if self._post(self.answered):
                self.answered += 1
            if self.answered and self._random.random() < 0.2:
                self._post(self._random.randrange(self.answered))

    def finish(self) -> None:
        """Stop once the event at hand is answered."""
        self._stop_now.set()
        self.join()

    def _text(self, number: int) -> str:
        return f"sender {self._number} says {number}"

    def _post(self, number: int) -> bool:
        event = {
            "source": {"provider": "mine", "threadId": f"thread-{self._number}"},
            "event": {"id": f"{self._number}-{number}", "text": self._text(number), "role": "user"},
        }
        try:
            answer = send(self._url, json.dumps(event).encode(), {"Authorization": f"Bearer {TOKEN}"})
        except (OSError, HTTPException):  # killed, or not there yet: it may be in the log, or not
            time.sleep(0.01)
            return False
        if answer.status not in {200, 503}:
            self.faults.append(answer.status)
        return answer.status == 200


@pytest.fixture
def home(tmp_path):
    variables = {
        "SESSION_INGEST__LOG__LEVEL": "warning",
        "SESSION_INGEST__HTTP__PORT": str(free_port()),
        "SESSION_INGEST__SOURCES__CUSTOM__MAIN__TOKEN": TOKEN,
    }
    return Home(tmp_path, variables)


def test_what_was_answered_is_there_exactly_once_and_in_order_after_random_kills(home):
    url = f"http://127.0.0.1:{home.variables['SESSION_INGEST__HTTP__PORT']}/v1/events"
    senders = [Sender(number, url) for number in range(SENDERS)]
    chance, zygote = random.Random(5), Zygote(home)
    try:
        for sender in senders:
            sender.start()
        for _ in range(KILLS):
            pid = zygote.start()
            if chance.random() < 2 / 3:
                eventually(lambda: answers(url))
            time.sleep(chance.uniform(0.0, LONGEST_LIFE_SECONDS))
            zygote.kill(pid)
        answered = [sender.answered for sender in senders]
        pid = zygote.start()
        try:
            for sender, before in zip(senders, answered, strict=True):
                eventually(lambda sender=sender, before=before: sender.answered > before)
                sender.finish()
            expected = {f"thread-{number}": senders[number].texts for number in range(SENDERS)}
            eventually(lambda: sum(map(len, texts_by_thread(home).values())) >= sum(map(len, expected.values())), 60)
        finally:
            zygote.kill(pid)
    finally:
        for sender in senders:
            sender.finish()
        zygote.close()
    found = texts_by_thread(home)
    assert sum(answered) > 0, "no daemon lived long enough to be killed at work"
    # The last event of a sender may be in the log though its answer was lost.
    assert {name: texts[: len(expected[name])] for name, texts in found.items()} == expected
    assert all(len(texts) <= len(expected[name]) + 1 for name, texts in found.items())
    assert [sender.faults for sender in senders] == [[]] * SENDERS
