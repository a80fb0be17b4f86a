"""`POST /v1/events` at a real daemon, processors running: events a second, and what they cost the daemon.

Senders wait for each answer, which comes after the disk sync, as the contract demands.
"""

import json
import tempfile
import threading
import time
from http.client import HTTPConnection
from pathlib import Path

from tests.bench.measure import cpu_of
from tests.support.daemon import Home

TOKEN = "a-token-of-enough-characters"  # noqa: S105 - of a daemon that lives for one benchmark
SECONDS = 5.0
WARM_UP_SECONDS = 3.0
"""Whatever a daemon still imports and opens after it is ready is no part of what an event costs."""
TEXT = "words " * 130


def main() -> None:
    """Print a line for each number of senders and events a request."""
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder), {"SESSION_INGEST__SOURCES__CUSTOM__MAIN__TOKEN": TOKEN})
        home.start()
        try:
            _figures(home, 1, 1, WARM_UP_SECONDS)
            print("POST /v1/events (events of 1 KB, answered after the commit)")
            for senders, batch in ((1, 1), (8, 1), (8, 100)):
                print(_figures(home, senders, batch, SECONDS))
        finally:
            home.close()


def _figures(home: Home, senders: int, batch: int, seconds: float) -> str:
    sent: list[list[float]] = [[] for _ in range(senders)]
    cpu, end = cpu_of(home.process.pid), time.monotonic() + seconds
    threads = [
        threading.Thread(target=_send, args=(home.url, f"{senders}-{batch}-{number}", batch, end, sent[number]))
        for number in range(senders)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    waits = sorted(wait for each in sent for wait in each)
    events, cpu = len(waits) * batch, cpu_of(home.process.pid) - cpu
    return (
        f"  {senders} senders, {batch:3} events a request: {events / seconds:8,.0f} events/s,"
        f" {cpu / events * 1e6:6,.0f} us CPU an event, answer after {waits[len(waits) // 2] * 1000:.0f} ms"
        f" (p99 {waits[int(len(waits) * 0.99)] * 1000:.0f} ms)"
    )


def _send(url: str, thread_id: str, batch: int, end: float, waits: list[float]) -> None:
    connection = HTTPConnection(url.removeprefix("http://"))
    number = 0
    while time.monotonic() < end:
        body = json.dumps([_event(thread_id, number + each) for each in range(batch)])
        begun = time.monotonic()
        connection.request("POST", "/v1/events", body, {"Authorization": f"Bearer {TOKEN}"})
        answer = connection.getresponse()
        answer.read()
        if answer.status == 200:
            waits.append(time.monotonic() - begun)
            number += batch
    connection.close()


def _event(thread_id: str, number: int) -> dict[str, object]:
    return {
        "schemaVersion": "1.0",
        "source": {"provider": "bench", "providerAccountKey": "bench", "threadId": thread_id},
        "event": {
            "id": f"{thread_id}-{number}",
            "type": "message",
            "timestampIso": "2026-01-31T12:00:00.000Z",
            "role": "user",
            "text": TEXT,
        },
    }
