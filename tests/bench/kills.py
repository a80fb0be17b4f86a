"""Kills the daemon again and again while files grow: the test's own loop, with more kills than a test may take."""

import os
import subprocess
import sys
import time
from pathlib import Path

KILLS = os.environ.get("BENCH_KILLS", "200")
TEST = "tests/ingest/test_daemon_kill.py"


def main() -> None:
    """Print the outcome."""
    started = time.perf_counter()
    env = {**os.environ, "SESSION_TRIAGE_TEST_KILLS": KILLS}
    command = [sys.executable, "-m", "pytest", "-q", "--timeout", "1800", TEST]
    done = subprocess.run(command, env=env, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    outcome = "every line once and in order" if done.returncode == 0 else done.stdout
    print(f"{KILLS} kills of the daemon in {time.perf_counter() - started:.0f} s: {outcome}")


if __name__ == "__main__":
    main()
