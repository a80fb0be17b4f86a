"""One measurement a process, so that none disturbs another's memory: CPU seconds, wall seconds, peak memory."""

import json
import multiprocessing
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

PEERS = Path(__file__).parents[2] / ".venv" / "peers" / "bin"
"""Programs that do the same work, in an environment of their own: `make bench` installs them."""

ROUNDS = 3
"""The best of so many counts: the machine's other work only ever adds time."""


@dataclass(frozen=True)
class Figure:
    """What a way of working took for `count` things of together `size` bytes."""

    name: str
    cpu: float
    wall: float
    peak_mb: float
    count: int
    size: int

    @property
    def mb_per_cpu(self) -> float:
        """Megabytes a CPU second."""
        return self.size / self.cpu / 1e6

    @property
    def per_wall(self) -> float:
        """Things a second of the clock."""
        return self.count / self.wall


def measure(name: str, work: Callable[[], int], size: int, rounds: int = ROUNDS, *, children: bool = False) -> Figure:
    """Run some work in a fresh process, several times; gives the best round. `children`: what its children use."""
    ours, theirs = multiprocessing.get_context("fork").Pipe()
    process = multiprocessing.get_context("fork").Process(target=_child, args=(work, rounds, theirs, children))
    process.start()
    theirs.close()
    rows, peak = ours.recv()
    process.join()
    cpu, wall, count = min(rows)
    return Figure(name, cpu, wall, peak, count, size)


def _child(work: Callable[[], int], rounds: int, answer: Connection, children: bool) -> None:
    rows = []
    whose = resource.RUSAGE_CHILDREN if children else resource.RUSAGE_SELF
    for _ in range(rounds):
        before, started = resource.getrusage(whose), time.perf_counter()
        count = work()
        wall, used = time.perf_counter() - started, resource.getrusage(whose)
        rows.append((used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime, wall, count))
    answer.send((rows, resource.getrusage(whose).ru_maxrss / 1024))


def cpu_of(pid: int) -> float:
    """CPU seconds that a running process has used, its threads included."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def table(title: str, figures: list[Figure], unit: str, floor: Figure | None = None) -> str:
    """Lay figures out for a person, with their share of the floor's speed."""
    lines = [title, f"  {'':34} {'CPU s':>7} {'MB/s CPU':>9} {unit + '/s wall':>14} {'peak MB':>8} {'of floor':>9}"]
    for figure in figures:
        share = f"{floor.cpu / figure.cpu:9.2f}" if floor else ""
        lines.append(
            f"  {figure.name:34} {figure.cpu:7.2f} {figure.mb_per_cpu:9.1f} {figure.per_wall:14,.0f} "
            f"{figure.peak_mb:8.0f} {share}"
        )
    return "\n".join(lines)


def as_json(figures: list[Figure]) -> str:
    """Give figures for a script."""
    return json.dumps([vars(figure) for figure in figures])
