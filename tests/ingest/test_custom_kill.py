"""`kill -9` of the daemon while senders post: what was answered with 2xx is there, once, in each sender's order.

A sender does what the contract says: it sends an event again until it is answered, and only then the next one.
"""

import json
import os

import pytest

from tests.support.daemon import Home
from tests.support.kills import Sender, sent_through_kills
from tests.support.served import free_port

KILLS = int(os.environ.get("SESSION_TRIAGE_TEST_KILLS", "50")) // 3
SENDERS = 4
TOKEN = "a-token-of-enough-characters"  # noqa: S105 - of a daemon that lives for one test


class EventSender(Sender):
    """Posts events of one thread."""

    def __init__(self, number: int, url: str) -> None:
        super().__init__(number, url)
        self._number = number

    @property
    def thread(self) -> str:
        return f"thread-{self._number}"

    @property
    def texts(self) -> list[str]:
        return [self._text(each) for each in range(self.answered)]

    def request(self, number: int) -> tuple[bytes, dict[str, str]]:
        event = {
            "source": {"provider": "mine", "threadId": self.thread},
            "event": {"id": f"{self._number}-{number}", "text": self._text(number), "role": "user"},
        }
        return json.dumps(event).encode(), {"Authorization": f"Bearer {TOKEN}"}

    def _text(self, number: int) -> str:
        return f"sender {self._number} says {number}"


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
    senders = [EventSender(number, url) for number in range(SENDERS)]
    found = sent_through_kills(home, senders, KILLS)
    expected = {sender.thread: sender.texts for sender in senders}
    # The last event of a sender may be in the log though its answer was lost.
    assert {name: texts[: len(expected[name])] for name, texts in found.items()} == expected
    assert all(len(texts) <= len(expected[name]) + 1 for name, texts in found.items())
    assert [sender.faults for sender in senders] == [[]] * SENDERS
