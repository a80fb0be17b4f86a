"""Promise: whatever happens to files and to the program, surviving lines are delivered, none invented or cut, in order.

Hypothesis drives the tailer's engine over real files beside a model of what they hold. What may be delivered twice is
left to event ids; what may not be missing, changed, out of order, or read by a parser in the wrong state is checked at
every poll.
"""

import functools
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from adapters.contract import Capture
from adapters.files.parsers import LiveParsers
from adapters.files.reading import Budget
from tests.support.tail import Driver, append, overwrite

NAMES = ("a.jsonl", "b.jsonl", "c.jsonl")
WIDTH = 8


@dataclass
class ModelFile:
    """What a file holds: whole lines, and the part of a line that waits for its `rest`."""

    lines: list[str] = field(default_factory=list)
    rest: bytes = b""
    ordered: bool = True

    @property
    def size(self) -> int:
        return sum(len(text) + 1 for text in self.lines)


class TailModel(RuleBasedStateMachine):
    """The rules; each `poll` compares."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="tail-model-"))
        self.driver = Driver(self.folder)
        self.files: dict[str, ModelFile] = {}
        self.places: dict[str, int] = {}
        """Of every line ever written, which line of its file it was; rewrites and copies keep it."""
        self.counter = 0
        self.refusing = False
        self.eager = False

    def teardown(self) -> None:
        self.refusing = False
        self.poll()
        self.driver.engine.close()
        shutil.rmtree(self.folder)

    def new_lines(self, count: int, length: int) -> list[str]:
        """Fresh texts, each with its own number."""
        texts = []
        for _ in range(count):
            self.counter += 1
            texts.append(f"{self.counter:0{WIDTH}d}" + "x" * length)
        return texts

    def store(self, file: ModelFile, texts: list[str]) -> bytes:
        """Add lines to the model; gives their bytes, the rest of a begun line first."""
        data = file.rest + b"".join(text.encode() + b"\n" for text in texts)
        file.rest = b""
        self.places |= {text: place for place, text in enumerate(texts, len(file.lines))}
        file.lines += texts
        return data

    @initialize(eager=st.booleans())
    def choose(self, eager: bool) -> None:
        """Poll after every step, or only when the poll rule comes up, after many."""
        self.eager = eager

    @invariant()
    def polled(self) -> None:
        if self.eager:
            self.poll()

    names = st.sampled_from(NAMES)
    counts = st.integers(1, 12)
    lengths = st.sampled_from([0, 1, 40, 300])

    @rule(name=names, count=counts, length=lengths)
    def append(self, name: str, count: int, length: int) -> None:
        file = self.files.setdefault(name, ModelFile())
        append(self.folder / name, self.store(file, self.new_lines(count, length)))

    @rule(name=names, length=lengths, at=st.integers(1, 7))
    def append_part(self, name: str, length: int, at: int) -> None:
        """The beginning of a line, or a further stretch of one that is begun."""
        file = self.files.setdefault(name, ModelFile())
        if not file.rest:
            [text] = self.new_lines(1, length)
            self.store(file, [text])
            file.rest = text.encode() + b"\n"
        at = min(at, len(file.rest) - 1)
        append(self.folder / name, file.rest[:at])
        file.rest = file.rest[at:]

    @precondition(lambda self: self.files)
    @rule(data=st.data(), name=names)
    def rotate(self, data: st.DataObject, name: str) -> None:
        """Rename, perhaps over another file; a new file may follow under the old name."""
        old = data.draw(st.sampled_from(sorted(self.files)))
        if old != name:
            (self.folder / old).rename(self.folder / name)
            self.files[name] = self.files.pop(old)

    @precondition(lambda self: self.files)
    @rule(data=st.data(), name=names)
    def copy_truncate(self, data: st.DataObject, name: str) -> None:
        old = data.draw(st.sampled_from(sorted(self.files)))
        if old != name:
            shutil.copyfile(self.folder / old, self.folder / name)
            file = self.files[old]
            self.files[name] = ModelFile(list(file.lines), file.rest, file.ordered)
            self.empty(old)

    def empty(self, name: str) -> None:
        with (self.folder / name).open("r+b") as stream:
            stream.truncate(0)
        self.files[name] = ModelFile()

    @precondition(lambda self: self.files)
    @rule(data=st.data(), count=counts, length=lengths)
    def rewrite_with_same_head(self, data: st.DataObject, count: int, length: int) -> None:
        """Keep some first lines, replace the others, in place."""
        name = data.draw(st.sampled_from(sorted(self.files)))
        kept = data.draw(st.integers(0, len(self.whole(name))))
        file = ModelFile(self.whole(name)[:kept], ordered=self.files[name].ordered)
        self.files[name] = file
        self.store(file, self.new_lines(count, length))
        (self.folder / name).write_bytes(b"".join(text.encode() + b"\n" for text in file.lines))

    @precondition(lambda self: self.files)
    @rule(data=st.data())
    def cut_shorter(self, data: st.DataObject) -> None:
        """A restore to an earlier state."""
        name = data.draw(st.sampled_from(sorted(self.files)))
        file = ModelFile(self.whole(name)[: data.draw(st.integers(0, 5))], ordered=self.files[name].ordered)
        self.files[name] = file
        with (self.folder / name).open("r+b") as stream:
            stream.truncate(file.size)

    @precondition(lambda self: any(self.whole(name) for name in self.files))
    @rule(data=st.data())
    def change_one_line(self, data: st.DataObject) -> None:
        """In place, same size: head, marker and size may all stay as they are."""
        name = data.draw(st.sampled_from([name for name in sorted(self.files) if self.whole(name)]))
        file = self.files[name]
        index = data.draw(st.integers(0, len(self.whole(name)) - 1))
        [text] = self.new_lines(1, len(file.lines[index]) - WIDTH)
        overwrite(self.folder / name, text.encode(), sum(len(line) + 1 for line in file.lines[:index]))
        file.lines[index] = text
        file.ordered = False
        self.places[text] = index

    @precondition(lambda self: self.files)
    @rule(data=st.data(), again=st.booleans(), count=counts)
    def delete(self, data: st.DataObject, again: bool, count: int) -> None:
        """Delete, and perhaps create anew at once: the inode comes back."""
        name = data.draw(st.sampled_from(sorted(self.files)))
        (self.folder / name).unlink()
        del self.files[name]
        if again:
            self.append(name, count, 1)

    @rule()
    def restart(self) -> None:
        self.driver.restart()

    @rule(captures=st.integers(1, 3))
    def kill_before_commit(self, captures: int) -> None:
        """Read, commit all but the last capture, die."""
        self.driver.engine.sweep()
        for number in range(captures):
            capture = self.driver.engine.read()
            if capture is not None and number < captures - 1:
                self.accept_capture(capture)
        self.driver.restart()

    @rule(captures=st.integers(1, 3))
    def read_some(self, captures: int) -> None:
        """Read on without coming to the end, so that files change while they are being read."""
        if not self.refusing:
            self.driver.engine.sweep()
            for _ in range(captures):
                if (capture := self.driver.engine.read()) is not None:
                    self.accept_capture(capture)

    @rule(refuse=st.booleans())
    def sink_refuses_or_accepts_again(self, refuse: bool) -> None:
        self.refusing = refuse

    @rule()
    def poll(self) -> None:
        """Search and read all; then everything that survives has been delivered."""
        if self.refusing:
            self.driver.engine.sweep()
            self.driver.engine.read()
            self.driver.restart()
            return
        self.driver.engine.sweep()
        while self.driver.engine.busy:
            capture = self.driver.engine.read()
            if capture is not None:
                self.accept_capture(capture)
        self.compare()

    def accept_capture(self, capture: Capture) -> None:
        """Commit; each line must be the one its parser counted, so the parser was fed every line before it, once."""
        before = len(self.driver.sink.heard)
        self.driver.sink.commit(capture)
        for heard in self.driver.sink.heard[before:]:
            assert int(heard.event.message_id or 0) - 1 == self.places[heard.event.text]

    def whole(self, name: str) -> list[str]:
        file = self.files[name]
        return file.lines[:-1] if file.rest else file.lines

    def compare(self) -> None:
        once = self.driver.sink.once
        place = {text: index for index, text in enumerate(once)}
        for name, file in self.files.items():
            missing = [text for text in self.whole(name) if text not in place]
            assert not missing, f"{name} lacks {missing}"
            if file.ordered:
                places = [place[text] for text in self.whole(name)]
                assert places == sorted(places)

    @invariant()
    def nothing_is_invented(self) -> None:
        assert set(self.driver.sink.texts) <= self.places.keys()

    @invariant()
    def no_descriptor_is_left_open_at_rest(self) -> None:
        assert self.driver.engine.busy or self.driver.engine.stats.open_files == 0


CHECKED = settings(
    max_examples=100,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def test_tailer_agrees_with_the_model() -> None:
    """With the limits as they are."""
    run_state_machine_as_test(TailModel, settings=CHECKED)


def test_tailer_agrees_with_the_model_under_tiny_limits() -> None:
    """With tiny captures, heads and blocks, and parsers that are dropped and rebuilt all the time."""
    with (
        mock.patch.multiple("adapters.files.fingerprint", HEAD_BYTES=30, MARKER_BYTES=20),
        mock.patch.multiple("adapters.files.known", HEAD_BYTES=30),
        mock.patch.multiple("adapters.files.blocks", CHUNK_BYTES=32, MARKER_BYTES=20),
        mock.patch.multiple(
            "adapters.files.reading", MIN_BLOCK_BYTES=32, BLOCK_BYTES=64, CHECK_CHUNK=50, MAX_ELEMENTS=3
        ),
        mock.patch("adapters.files.engine.Budget", functools.partial(Budget, bytes=150, quiet=5000)),
        mock.patch("adapters.files.engine.LiveParsers", functools.partial(LiveParsers, limit=1)),
    ):
        run_state_machine_as_test(TailModel, settings=CHECKED)


@pytest.mark.soak
def test_tailer_agrees_with_the_model_for_long() -> None:
    """Many more histories."""
    run_state_machine_as_test(TailModel, settings=settings(CHECKED, max_examples=3000, stateful_step_count=60))
