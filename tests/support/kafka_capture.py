"""A process that captures numbered records into Kafka as a source does, to be killed, stopped and resumed."""

import signal
import subprocess
from typing import Final

from ingest.settings_kafka import KafkaSettings
from tests.support.log import spawn

SOURCE: Final = "numbers"

# Reads numbers as a source reads a file: from its checkpoint on, each append with the checkpoint behind it. An append
# that the log refuses is offered again, as `ingest.capture` does. It says what it has been told is written.
_CAPTURE: Final = """
import sys, time
from ingest.log.contract import FencedError, LogError, NewRecord, SourceProgress, Topic
from ingest.log.kafka.log import KafkaLog
from ingest.settings_kafka import KafkaSettings

log = KafkaLog.open(KafkaSettings.model_validate_json(sys.argv[1]))
end, size = int(sys.argv[2]), int(sys.argv[3])
try:
    while True:
        try:
            source = log.open_source("numbers")
            at = int(source.checkpoints().get("file", b"0"))
            break
        except FencedError:
            raise
        except LogError as error:
            print("refused", type(error).__name__, error, file=sys.stderr, flush=True)
    print("open", at, flush=True)
    while at < end:
        numbers = range(at, min(at + size, end))
        records = [NewRecord(Topic.CAPTURED, f"k{number % 4}", str(number).encode()) for number in numbers]
        while True:
            try:
                source.append(records, {"file": str(numbers.stop).encode()}, SourceProgress({"emitted": len(numbers)}))
                break
            except FencedError:
                raise
            except LogError as error:
                print("refused", type(error).__name__, error, file=sys.stderr, flush=True)
                time.sleep(0.05)
        at = numbers.stop
        print("told", at, flush=True)
except FencedError as error:
    print("fenced", error, flush=True)
    raise SystemExit(3)
print("done", flush=True)
log.close()
"""


class Capturing:
    """The process; `told` is the number up to which it was told that everything is written."""

    def __init__(self, settings: KafkaSettings, end: int, size: int = 3, before: str = "") -> None:
        """`before` is run in the process before everything else, to change what it works with."""
        self._process = spawn(before + _CAPTURE, settings.model_dump_json(), str(end), str(size))
        self.told = 0
        self.began = -1

    def next(self) -> str:
        """The next word it says; empty at its end."""
        assert self._process.stdout is not None
        word, _, rest = self._process.stdout.readline().strip().partition(" ")
        if word == "told":
            self.told = int(rest)
        elif word == "open":
            self.began = int(rest)
        return word

    def until(self, wanted: str) -> None:
        """Listen until it says a word."""
        while (word := self.next()) != wanted:
            assert word, f"it ended before it said {wanted}"

    def kill(self) -> None:
        """`kill -9`; then hear what it had still said."""
        self._process.send_signal(signal.SIGKILL)
        while self.next():
            pass
        self.wait()

    def pause(self) -> None:
        """Stop it where it stands, as a machine does that goes to sleep."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        self._process.send_signal(signal.SIGCONT)

    def wait(self, seconds: float = 120) -> int:
        """Hear it to its end; gives its exit status."""
        while self.next():
            pass
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise
        finally:
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    pipe.close()
