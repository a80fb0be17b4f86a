"""Runs every benchmark, or those named: `python -m tests.bench [pi_stream …]`."""

import sys
from importlib import import_module

from tests.support.kafka import missing_kafka

ALONE = ["start_up", "pi_stream", "exports", "tail_scale", "custom_events", "triage", "kills"]
ON_KAFKA = ["kafka_capture", "kafka_workers", "migrate"]

if __name__ == "__main__":
    for name in sys.argv[1:] or [*ALONE, *ON_KAFKA]:
        if name in ON_KAFKA and (reason := missing_kafka()):
            print(f"{name} skipped: {reason}\n")
        else:
            import_module(f"tests.bench.{name}").main()
