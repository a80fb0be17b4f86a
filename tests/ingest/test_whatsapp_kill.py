"""`kill -9` of the daemon while WhatsApp delivers: what was answered with 2xx is there, once, each in its one thread.

The senders do what Meta does: whole bodies again until they are answered, several at once, old ones beside new ones.
"""

import json
import os
import threading
from collections import Counter

import pytest

from tests.support.daemon import Home
from tests.support.kills import Sender, sent_through_kills
from tests.support.served import free_port
from tests.support.whatsapp import APP_SECRET, VERIFY_TOKEN, change, message, payload, signed, status

KILLS = int(os.environ.get("SESSION_TRIAGE_TEST_KILLS", "50")) // 5
SENDERS = 3


class Meta(Sender):
    """Delivers bodies of one person, now and then beside an old one."""

    def __init__(self, number: int, url: str) -> None:
        super().__init__(number, url)
        self.person = f"1555010010{number}"

    @property
    def thread(self) -> str:
        return f"US.{self.person}"

    @property
    def texts(self) -> list[str]:
        return [text for number in range(self.answered) for text in (f"a{number}", f"b{number}", "sent")]

    def turn(self) -> None:
        if self.answered and self.chance.random() < 0.3:
            old = threading.Thread(target=self.post, args=(self.chance.randrange(self.answered),))
            old.start()
            self.answered += self.post(self.answered)
            old.join()
        else:
            self.answered += self.post(self.answered)

    def request(self, number: int) -> tuple[bytes, dict[str, str]]:
        """Two messages, one of them under the user id alone, and the state of an answer under the number alone."""
        person = {"wa_id": self.person, "user_id": self.thread, "profile": {"name": "Ana"}}
        named = {"from": ..., "from_user_id": person["user_id"]}
        words = [
            message(number, f"a{number}", id=f"{self.person}.a{number}", **{"from": self.person}),
            message(number, f"b{number}", id=f"{self.person}.b{number}", **named),
        ]
        states = [status(number, "sent", id=f"{self.person}.c{number}", recipient_id=self.person)]
        body = payload(change(messages=words, contacts=[person]), change(statuses=states, contacts=...))
        raw = json.dumps(body).encode()
        return raw, signed(raw)


@pytest.fixture
def home(tmp_path):
    variables = {
        "SESSION_INGEST__LOG__LEVEL": "warning",
        "SESSION_INGEST__HTTP__PORT": str(free_port()),
        "SESSION_INGEST__SOURCES__WHATSAPP__SHOP__VERIFY_TOKEN": VERIFY_TOKEN,
        "SESSION_INGEST__SOURCES__WHATSAPP__SHOP__APP_SECRET": APP_SECRET,
    }
    return Home(tmp_path, variables)


def test_what_was_answered_is_there_exactly_once_after_random_kills(home):
    url = f"http://127.0.0.1:{home.variables['SESSION_INGEST__HTTP__PORT']}/v1/whatsapp/shop"
    senders = [Meta(number, url) for number in range(SENDERS)]
    found = sent_through_kills(home, senders, KILLS)
    expected = {sender.thread: sender.texts for sender in senders}
    assert [sender.faults for sender in senders] == [[]] * SENDERS
    assert found.keys() == expected.keys()
    for thread, texts in expected.items():
        extra = Counter(found[thread]) - Counter(texts)
        # The last body may be in the log though its answer was lost.
        assert extra.total() <= 3, (thread, extra)
        assert found[thread][: len(texts)] == texts
