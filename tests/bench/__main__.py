"""Runs every benchmark, or those named: `python -m tests.bench [pi_stream …]`."""

import sys
from importlib import import_module

ALL = ["start_up", "pi_stream", "exports", "tail_scale", "kills"]

if __name__ == "__main__":
    for name in sys.argv[1:] or ALL:
        import_module(f"tests.bench.{name}").main()
