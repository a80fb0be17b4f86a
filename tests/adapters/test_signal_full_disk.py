"""A journal that cannot be written costs no envelope: what is on its way is taken into memory before the source leaves.

Rule: what signal-cli has handed out is gone there. A source that broke the connection at the first failed write would
lose all that stood behind it in the system's buffers.
"""

import errno
import os
from pathlib import Path
from typing import Any

from adapters.chat import signal_journal
from tests.support.fake_signal import FakeSignal
from tests.support.signal_run import Run, has, words

COUNT = 300
"""Some 100 KB: more than one read of the connection takes."""

FAILURES = 2


def test_what_is_on_its_way_when_the_disk_is_full_comes_in_order(tmp_path: Path, monkeypatch: Any) -> None:
    real = signal_journal._write
    failures: list[int] = []

    def write(file: int, content: bytes) -> None:
        if b"dataMessage" in content and len(failures) < FAILURES:
            failures.append(len(content))
            os.write(file, content[:3])  # half an entry gets in
            raise OSError(errno.ENOSPC, "No space left on device")
        real(file, content)

    texts = [f"t{number}" for number in range(1, COUNT + 1)]
    with FakeSignal() as daemon:
        daemon.add(*(words(number, text) for number, text in enumerate(texts, 1)))
        monkeypatch.setattr(signal_journal, "_write", write)
        run = Run(daemon, tmp_path)(
            has(*texts),
            lambda run: run.health.restarts and run.daemon.subscriptions == 1,
            lambda run: run.daemon.add(words(COUNT + 1, "after")) or True,
            has(*texts, "after"),
        )
    assert failures
    assert "the journal cannot be written" in (run.health.last_error or "")
