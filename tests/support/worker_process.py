"""Workers on Kafka as real processes; run as a program, this module is one of them."""

import asyncio
import gc
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ingest.commands.terminal import COLLECT_AFTER
from ingest.health import Health
from ingest.metrics import Metrics
from ingest.processors.chain import processors
from ingest.settings_kafka import KafkaSettings
from ingest.streams.faust import transport
from ingest.streams.faust.shelf import Shelf, store_maker
from ingest.streams.faust.workers import Workers
from tests.support.worker import settings_of

ROOT: Final = Path(__file__).parents[2]

SESSION_MS: Final = 3_000
"""A worker that is killed has lost its partitions after this; shorter than in earnest, for the tests' sake."""


class WorkerProcess:
    """One worker in a process of its own."""

    def __init__(self, settings: KafkaSettings, folder: Path, store: str = "memory") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.output = folder / "worker.log"
        arguments = [settings.bootstrap_servers[0], settings.topic_prefix, str(settings.partitions), str(folder), store]
        with self.output.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.support.worker_process", *arguments],
                cwd=ROOT,
                stdout=output,
                stderr=output,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        """End it as `kill -9` does."""
        self._process.kill()
        self._process.wait()

    def pause(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def stop(self, seconds: float = 20) -> float:
        """End it as a service manager does; gives the seconds it took."""
        started = time.monotonic()
        if self.running:
            self._process.send_signal(signal.SIGTERM)
            assert self._process.wait(seconds) == 0, self.output.read_text()[-3000:]
        return time.monotonic() - started


class Fleet:
    """All the workers of a test."""

    def __init__(self, settings: KafkaSettings, folder: Path, store: str = "memory") -> None:
        self._settings, self._folder, self._store = settings, folder, store
        self.workers: list[WorkerProcess] = []

    def add(self, folder: Path | None = None) -> WorkerProcess:
        """Start one more; in its own folder unless it takes over an earlier one's."""
        place = folder or self._folder / f"worker-{len(self.workers)}"
        worker = WorkerProcess(self._settings, place, self._store)
        self.workers.append(worker)
        return worker

    @property
    def running(self) -> list[WorkerProcess]:
        return [worker for worker in self.workers if worker.running]

    def end(self) -> None:
        for worker in self.running:
            worker.resume()
            worker.kill()


async def run_worker(settings: KafkaSettings, folder: Path, store: str) -> None:
    """One worker until SIGTERM."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    health = Health()
    shelf = Shelf(store_maker(store, folder / "state"))
    workers = Workers(settings, folder, processors, shelf, health, Metrics())
    workers.start()
    await stop.wait()
    await workers.stop()


def main(arguments: Sequence[str]) -> None:
    """Run as a program of its own."""
    bootstrap, prefix, partitions, folder, store = arguments
    gc.set_threshold(COLLECT_AFTER)  # as the command line does
    transport.SESSION_TIMEOUT_MS, transport.HEARTBEAT_MS = SESSION_MS, SESSION_MS // 3
    asyncio.run(run_worker(settings_of(bootstrap, prefix, int(partitions)), Path(folder), store))


if __name__ == "__main__":
    main(sys.argv[1:])
