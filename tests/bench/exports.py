"""Exports: from file to canonical JSON Lines, as whole processes, beside the floor and the PAM SDK's converter."""

import mmap
import os
import subprocess
import tempfile
from functools import partial
from pathlib import Path

import msgspec

from tests.bench.measure import PEERS, Figure, measure, table
from tests.support.big_exports import write_export
from tests.support.commands import INGEST, environment

MEGABYTES = int(os.environ.get("BENCH_EXPORT_MB", "100"))


def floor(path: Path) -> int:
    """Every conversation decoded, one at a time, nothing built of them."""
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as memory:
        pieces = msgspec.json.decode(memory, type=list[msgspec.Raw])
        for piece in pieces:
            msgspec.json.decode(piece)
        count = len(pieces)
        del pieces, piece
        return count


def ours(path: Path, home: Path) -> int:
    """`session-ingest import --output`."""
    output = home / "out.jsonl"
    subprocess.run([INGEST, "import", "--output", output, path], env=environment(home), capture_output=True, check=True)
    return sum(1 for _ in output.open("rb"))


def peer(path: Path, home: Path, command: Path) -> int:
    """`pam convert`."""
    target = home / "bundle"
    subprocess.run([command, "convert", path, "-o", target], env=environment(home), capture_output=True, check=True)
    return sum(1 for _ in target.rglob("*.json"))


def main() -> None:
    """Print the figures."""
    for kind in ("chatgpt", "claude"):
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder)
            path = home / "conversations.json"
            size = write_export(path, kind, MEGABYTES)
            lowest = measure("msgspec alone, a conversation a time", partial(floor, path), size)
            figures: list[Figure] = [
                lowest,
                measure("session-ingest import --output", partial(ours, path, home), size, rounds=2, children=True),
            ]
            if (command := PEERS / "pam").exists():
                convert = partial(peer, path, home, command)
                figures.append(measure("pam convert (PAM SDK)", convert, size, rounds=1, children=True))
            print(table(f"{kind} export of {size / 1e6:.0f} MB", figures, "things", lowest))


if __name__ == "__main__":
    main()
