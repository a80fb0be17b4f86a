"""The steps of the stream in their order; whoever runs them, embedded or under Faust, gets them here."""

from datetime import timedelta

from ingest.processors.contract import Processor
from ingest.processors.normalize import NormalizeProcessor
from ingest.processors.signals import SignalsProcessor
from ingest.processors.summaries import IDLE_AFTER, SummariesProcessor


def processors(idle_after: timedelta = IDLE_AFTER) -> tuple[Processor, ...]:
    """Give new processors, each after the one it reads from; a thread is idle after `idle_after` without an event."""
    return NormalizeProcessor(), SignalsProcessor(), SummariesProcessor(idle_after=idle_after)
