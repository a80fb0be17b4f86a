"""A steady load of numbered words: speakers in a thread each, and whether all of it arrived once and in order.

A speaker does what its platform does: it sends again what was not answered with 2xx, and says the next words when the
former have been taken.
"""

import json
import os
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from http.client import HTTPException
from itertools import count
from pathlib import Path
from typing import Final

from tests.support.served import send

AGAIN_SECONDS: Final = 0.2
"""Real senders wait longer; a test has no time to."""

Say = Callable[[str], None]
"""Brings a text into a source; returns when the source's platform would go on to the next one."""


@dataclass
class Door:
    """An address of the daemon that is sent to until it answers with 2xx; `refusals` are status and Retry-After."""

    url: str
    headers: Callable[[bytes], Mapping[str, str]]
    stop: threading.Event = field(default_factory=threading.Event)
    refusals: Counter[tuple[int, str | None]] = field(default_factory=Counter)

    def deliver(self, body: object) -> None:
        """Send a body, again and again; gives up when stopped."""
        raw = json.dumps(body).encode()
        while not self.stop.is_set():
            try:
                answer = send(self.url, raw, self.headers(raw))
            except (OSError, HTTPException):  # killed, or not there yet
                self.stop.wait(AGAIN_SECONDS)
                continue
            if answer.status == 200:
                return
            self.refusals[answer.status, answer.headers.get("Retry-After")] += 1
            self.stop.wait(AGAIN_SECONDS)


@dataclass
class Speaker:
    """Who says numbered texts in one thread of a source; with a `chapter`, in a new thread after so many."""

    name: str
    say: Say
    chapter: int = 0
    texts: list[str] = field(default_factory=list)

    def speak(self, padding: int = 0) -> None:
        """Say the next words, with so many characters more; they are noted before they are on their way."""
        number = len(self.texts)
        chapter = f" part {number // self.chapter}" if self.chapter else ""
        self.texts.append(f"{self.name}{chapter} says {number + 1}{'.' * padding}")
        self.say(self.texts[-1])


def thread_of(text: str) -> str:
    """What the texts of one thread have in common."""
    return text.rpartition(" says ")[0]


class Load:
    """Lets speakers speak, together `rate` times a second; one that cannot keep up speaks as often as it can."""

    def __init__(self, speakers: Iterable[Speaker], rate: float) -> None:
        self._speakers = list(speakers)
        self._pause = len(self._speakers) / rate
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(each,)) for each in self._speakers]

    def start(self) -> None:
        """Begin."""
        for thread in self._threads:
            thread.start()

    def finish(self) -> None:
        """End, once what is being said has arrived."""
        self._stop.set()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()

    @property
    def said(self) -> int:
        """How many texts so far."""
        return sum(len(each.texts) for each in self._speakers)

    def _run(self, speaker: Speaker) -> None:
        for moment in count():
            due = self._begun + moment * self._pause
            if self._stop.wait(max(0.0, due - time.monotonic())):
                return
            speaker.speak()

    @property
    def _begun(self) -> float:
        return self.__dict__.setdefault("begun", time.monotonic())


class Burst:
    """Lets each speaker say so many words, one right after the other."""

    def __init__(self, speakers: Iterable[Speaker], times: int, padding: int = 0) -> None:
        self._times, self._padding = times, padding
        self._threads = {each.name: threading.Thread(target=self._run, args=(each,)) for each in speakers}

    def start(self) -> None:
        """Begin."""
        for thread in self._threads.values():
            thread.start()

    def join(self, names: Sequence[str] = ("",)) -> None:
        """Wait until those are through whose names begin so."""
        for name, thread in self._threads.items():
            if name.startswith(tuple(names)):
                thread.join()

    @property
    def alive(self) -> bool:
        """Whether somebody still speaks."""
        return any(thread.is_alive() for thread in self._threads.values())

    def _run(self, speaker: Speaker) -> None:
        for _ in range(self._times):
            speaker.speak(self._padding)


def faults(said: Iterable[str], found: Mapping[str, Sequence[str]]) -> list[str]:
    """What is lost, doubled, out of order or in a wrong thread, in words; `found` are the texts in the stream."""
    expected, threads = defaultdict[str, list[str]](list), {thread_of(texts[0]): texts for texts in found.values()}
    for text in said:
        expected[thread_of(text)].append(text)
    told = [f"{len(threads)} in {len(found)} threads"] if len(threads) != len(found) else []
    for name in expected.keys() | threads.keys():
        wanted, texts = expected[name], threads.get(name, [])
        lost, extra = Counter(wanted) - Counter(texts), Counter(texts) - Counter(wanted)
        if lost or extra:
            told.append(f"{name}: {lost.total()} lost {_some(lost)}, {extra.total()} too many {_some(extra)}")
        elif list(texts) != wanted:
            told.append(f"{name}: out of order")
    return sorted(told)


def resident_bytes(pid: int) -> int:
    """The resident memory of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _some(texts: Iterable[str]) -> list[str]:
    return [text[:80] for text in sorted(texts)[:3]]
