"""`kill -9` of a daemon at random moments while others send to it, and what was answered must be there afterwards."""

import random
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from http.client import HTTPException

from tests.support.daemon import Home, Zygote, eventually, texts_by_thread
from tests.support.served import send

LONGEST_LIFE = 1.5
"""Times what a daemon takes here to have done something: from the middle of the start to well into the work."""

AT_WORK_SECONDS = 0.2
"""Some batches of a daemon that is at work."""


def kill_at_random(zygote: Zygote, chance: random.Random, kills: int, at_work: Callable[[], object]) -> None:
    """Start a daemon and kill it, again and again; the first one lives until `at_work`, which measures how long."""
    pid = zygote.start()
    begun = time.monotonic()  # only now: what the zygote imports once is no part of a daemon's life
    eventually(at_work)
    longest = LONGEST_LIFE * (time.monotonic() - begun)
    zygote.kill(pid)
    for _ in range(kills):
        pid = zygote.start()
        time.sleep(chance.uniform(0.0, longest))
        zygote.kill(pid)


def kill_in_turn(zygote: Zygote, chance: random.Random, kills: int, work: Callable[[], int]) -> None:
    """Kill daemons in turn soon after they were seen at `work`, which rises, and at any time since their start."""
    longest = 0.0
    for life in range(kills):
        before, pid = work(), zygote.start()
        if life % 2:
            time.sleep(chance.uniform(0.0, longest))
        else:
            begun = time.monotonic()
            eventually(lambda before=before: work() > before, 60)
            longest = LONGEST_LIFE * (time.monotonic() - begun)
            time.sleep(chance.uniform(0.0, AT_WORK_SECONDS))
        zygote.kill(pid)


class Sender(threading.Thread, ABC):
    """Sends numbered bodies, each again until it is answered with 2xx, and only then the next; now and then an old one.

    `answered` is how many were, `faults` the statuses that no sender should see.
    """

    def __init__(self, number: int, url: str) -> None:
        super().__init__()
        self.answered = 0
        self.faults: list[int] = []
        self.chance = random.Random(number)
        self._url = url
        self._stop_now = threading.Event()

    @property
    @abstractmethod
    def thread(self) -> str:
        """The thread that what it sends stands in."""

    @property
    @abstractmethod
    def texts(self) -> list[str]:
        """What must be in the stream, in order."""

    @abstractmethod
    def request(self, number: int) -> tuple[bytes, Mapping[str, str]]:
        """The body of that number, and its headers."""

    def run(self) -> None:
        """Send until told to stop."""
        while not self._stop_now.is_set():
            self.turn()

    def turn(self) -> None:
        """Send the next one, and perhaps an old one after it."""
        self.answered += self.post(self.answered)
        if self.answered and self.chance.random() < 0.2:
            self.post(self.chance.randrange(self.answered))

    def post(self, number: int) -> bool:
        """Send one once; gives whether it was answered."""
        try:
            answer = send(self._url, *self.request(number))
        except (OSError, HTTPException):  # killed, or not there yet: it may be in the log, or not
            time.sleep(0.01)
            return False
        if answer.status not in {200, 503}:
            self.faults.append(answer.status)
        return answer.status == 200

    def finish(self) -> None:
        """Stop once the body at hand is answered."""
        self._stop_now.set()
        if self.ident is not None:
            self.join()


def sent_through_kills(home: Home, senders: Sequence[Sender], kills: int) -> dict[str, list[str]]:
    """Let all send while the daemon is killed, then to a last one; gives what is in the stream, by thread."""
    zygote = Zygote(home)
    try:
        for sender in senders:
            sender.start()
        kill_at_random(zygote, random.Random(5), kills, lambda: any(sender.answered for sender in senders))
        before = [sender.answered for sender in senders]
        pid = zygote.start()
        try:
            for sender, answered in zip(senders, before, strict=True):
                eventually(lambda sender=sender, answered=answered: sender.answered > answered)
                sender.finish()
            expected = sum(len(sender.texts) for sender in senders)
            eventually(lambda: sum(map(len, texts_by_thread(home).values())) >= expected, 60)
        finally:
            zygote.kill(pid)
    finally:
        for sender in senders:
            sender.finish()
        zygote.close()
    return texts_by_thread(home)
