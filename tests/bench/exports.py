"""Exports: from file to canonical JSON Lines, as whole processes, beside the floor and two peers.

The PAM SDK's converter writes a file a conversation; agentsview writes its SQLite store with a search index.
"""

import mmap
import os
import sqlite3
import subprocess
import tempfile
from contextlib import closing
from functools import partial
from pathlib import Path

import msgspec

from tests.bench.measure import PEERS, Figure, measure, table
from tests.support.big_exports import write_export
from tests.support.commands import INGEST, environment

THEIR_KINDS = {"chatgpt": "chatgpt", "claude": "claude-ai"}
"""How agentsview calls them."""

QUIET = {"AGENTSVIEW_TELEMETRY_ENABLED": "false", "AGENTSVIEW_NO_DAEMON": "1", "DO_NOT_TRACK": "1"}

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


def pam(path: Path, home: Path, command: Path) -> int:
    """`pam convert`."""
    target = home / "bundle"
    subprocess.run([command, "convert", path, "-o", target], env=environment(home), capture_output=True, check=True)
    return sum(1 for _ in target.rglob("*.json"))


def agentsview(path: Path, home: Path, command: Path, kind: str) -> int:
    """`agentsview import`, into a store of its own each time; it tells nobody and looks for no newer version."""
    with tempfile.TemporaryDirectory(dir=home) as place:
        alone = environment(Path(place), AGENTSVIEW_DATA_DIR=place, **QUIET)
        # Of ChatGPT it takes the unpacked folder, of Claude the file.
        what = path.parent if kind == "chatgpt" else path
        arguments = [command, "import", "--type", kind, what]
        subprocess.run(arguments, env=alone, capture_output=True, check=True)
        with closing(sqlite3.connect(Path(place) / "sessions.db")) as store:
            count: int = store.execute("SELECT count(*) FROM messages").fetchone()[0]
            return count


def main() -> None:
    """Print the figures."""
    for kind in ("chatgpt", "claude"):
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder)
            path = home / "export" / "conversations.json"
            path.parent.mkdir()
            size = write_export(path, kind, MEGABYTES)
            lowest = measure("msgspec alone, a conversation a time", partial(floor, path), size)
            figures: list[Figure] = [
                lowest,
                measure("session-ingest import --output", partial(ours, path, home), size, rounds=2, children=True),
            ]
            if (command := PEERS / "pam").exists():
                convert = partial(pam, path, home, command)
                figures.append(measure("pam convert (PAM SDK)", convert, size, rounds=1, children=True))
            if (command := PEERS / "agentsview").exists():
                store = partial(agentsview, path, home, command, THEIR_KINDS[kind])
                figures.append(measure("agentsview import", store, size, rounds=1, children=True))
            print(table(f"{kind} export of {size / 1e6:.0f} MB", figures, "things", lowest))


if __name__ == "__main__":
    main()
