"""`session-ingest replay` works captured records off again: chosen ones, once each, and what it changes is right."""

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from ingest.commands.operations.places import start_of
from ingest.commands.operations.replay import ReplayRequest, Told, run_replay
from ingest.export_selection import Reading, Selection, SelectionError, select
from ingest.log.contract import LogError, NewRecord, Topic
from ingest.log.embedded import EmbeddedLog
from ingest.processors import drafts
from ingest.processors.chain import processors
from ingest.replay import replay
from ingest.settings import Settings
from ingest.streams.embedded import EmbeddedRunner
from schemas.captured import CapturedRecord, decode_record, encode_record
from tests.support.commands import INGEST, run
from tests.support.log import everything
from tests.support.partitions import PartitionedLog
from tests.support.processors import captured, record_of


def new(content: CapturedRecord) -> NewRecord:
    return NewRecord(Topic.CAPTURED, f"{content.thread.provider}/{content.thread.thread_id}", encode_record(content))


def everyone(_: object) -> bool:
    return True


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(state_dir=tmp_path / "state" / "session-triage")


@pytest.fixture
def capture(settings: Settings) -> Callable[..., None]:
    """Appends records, each at a moment of its own, and processes them."""
    clock = iter(range(1_000_000, 9_000_000, 1_000))

    def append(*contents: CapturedRecord) -> None:
        with EmbeddedLog.open(settings.log_path, clock=lambda: next(clock)) as log:
            for content in contents:
                log.append([new(content)])
            EmbeddedRunner(log, processors()).run_until_caught_up()

    return append


def replayed(settings: Settings, start: str, *providers: str, dry_run: bool = False) -> tuple[Told, str]:
    console = Console(file=StringIO(), width=300)
    request = ReplayRequest(start, select(list(providers), [], None, None), dry_run)
    return run_replay(request, settings, console), console.file.getvalue()


def events(settings: Settings) -> list[tuple[str, str, list[str]]]:
    with EmbeddedLog.open(settings.log_path, read_only=True) as log:
        found = [json.loads(record.value)["event"] for record in everything(log, Topic.EVENTS)]
    return [(event["text"], event["role"], event.get("labels", [])) for event in found]


def copies(settings: Settings) -> list[CapturedRecord]:
    with EmbeddedLog.open(settings.log_path, read_only=True) as log:
        return [found for r in everything(log, Topic.CAPTURED) if (found := decode_record(r.value)).replay is not None]


def test_a_wrong_role_is_mended_without_importing_again(settings, capture, monkeypatch) -> None:
    """The promise of `conversations.captured`. What was right stays as it is."""
    capture(record_of(captured("a"), captured("b", role="assistant")))
    monkeypatch.setattr(drafts, "speaker", lambda *_: ("assistant", True))
    told, words = replayed(settings, "beginning")
    assert (told.records, told.events, told.processed) == (1, 2, True)
    assert "1 captured records with 2 events" in words
    assert events(settings) == [("a", "user", []), ("b", "assistant", []), ("a", "assistant", ["mended"])]


def test_replaying_what_is_right_adds_no_event_and_is_not_replayed_itself(settings, capture) -> None:
    capture(record_of(captured("a")), record_of(captured("b")))
    for round_ in range(1, 4):
        told, _ = replayed(settings, "beginning")
        assert told.records == 2
        assert told.passed_over.get("replays", 0) == 2 * (round_ - 1)
    assert len(events(settings)) == 2
    assert len(copies(settings)) == 6


def test_a_dry_run_tells_and_writes_nothing(settings, capture) -> None:
    capture(record_of(captured("a")))
    told, words = replayed(settings, "beginning", dry_run=True)
    assert (told.dry_run, told.records, told.events, told.processed) == (True, 1, 1, False)
    assert "would be appended again" in words
    assert copies(settings) == []


@pytest.mark.parametrize(
    ("providers", "texts"),
    [
        (["pi"], {"a"}),
        (["Claude"], {"b", "c"}),
        (["claude/ANA"], {"c"}),
        (["pi", "claude/ana"], {"a", "c"}),
        (["none"], set()),
    ],
)
def test_providers_narrow_it(settings, capture, providers: list[str], texts: set[str]) -> None:
    capture(
        record_of(captured("a")),
        record_of(captured("b"), provider="Claude"),
        record_of(captured("c"), provider="claude", account="Ana"),
    )
    told, _ = replayed(settings, "beginning", *providers)
    assert {event.text for copy in copies(settings) for event in copy.events} == texts
    assert told.passed_over.get("other", 0) == 3 - len(texts)


@pytest.mark.parametrize(("start", "texts"), [("1", "abc"), ("2", "bc"), ("4", ""), ("1970-01-01T00:16:41Z", "bc")])
def test_an_offset_is_the_first_taken_and_a_time_the_first_moment(settings, capture, start: str, texts: str) -> None:
    capture(*(record_of(captured(text)) for text in "abc"))
    replayed(settings, start)
    assert [event.text for copy in copies(settings) for event in copy.events] == list(texts)


@pytest.mark.parametrize("start", ["yesterday", "-1", "1:1", "1:0:0", ""])
def test_a_place_that_is_none_is_wrong_usage(settings, capture, start: str) -> None:
    capture(record_of(captured("a")))
    with pytest.raises(SelectionError, match="--from"):
        replayed(settings, start)


def test_without_a_log_none_is_made(settings: Settings) -> None:
    with pytest.raises(LogError):
        replayed(settings, "beginning")
    assert not settings.log_path.exists()


def test_members_that_this_version_does_not_know_are_kept(settings: Settings) -> None:
    """A record of a newer version is copied as it is; what of it can be used is for the processors to say."""
    value = msgspec.json.decode(encode_record(record_of(captured("a"))))
    value["version"], value["events"][0]["mood"], value["weather"] = 99, "fine", ["rain"]
    with EmbeddedLog.open(settings.log_path) as log:
        log.append([NewRecord(Topic.CAPTURED, "k", msgspec.json.encode(value)), NewRecord(Topic.CAPTURED, "k", b"{")])
        assert replay(log, {}, everyone).passed == {"unreadable": 1}
        copy = json.loads(everything(log, Topic.CAPTURED)[-1].value)
    assert copy.pop("replay") == {"timeMs": everything_time(settings)}
    assert copy == value


def everything_time(settings: Settings) -> int:
    with EmbeddedLog.open(settings.log_path, read_only=True) as log:
        return everything(log, Topic.CAPTURED)[0].time_ms


def test_of_one_moment_the_first_of_an_id_is_copied(settings: Settings, monkeypatch) -> None:
    """Times cannot tell the normaliser which version came first: replaying must not bring in the other."""
    contents = [record_of(captured("kept", id="x")), record_of(captured("other", id="x"), captured("more", id="y"))]
    with EmbeddedLog.open(settings.log_path) as log:
        log.append([new(content) for content in (*contents, record_of(captured("third", id="y")))])
        runner = EmbeddedRunner(log, processors())
        runner.run_until_caught_up()
        result = replay(log, {}, everyone)
        assert (result.records, result.events, result.passed) == (2, 2, {"repeated": 1})
        runner.run_until_caught_up()
    assert [text for text, _, _ in events(settings)] == ["kept", "more"]


def partitioned() -> PartitionedLog:
    log = PartitionedLog()
    for number in range(30):
        log.append([new(record_of(captured(f"{number}"), thread_id=f"t-{number % 7}"))])
    return log


def test_all_partitions_are_replayed() -> None:
    log = partitioned()
    assert (replay(log, {}, everyone).records, replay(log, {}, everyone).passed) == (30, {"replays": 30})
    copied = [
        decode_record(record.value).events[0].text
        for partition in range(3)
        for record in log.read(Topic.CAPTURED, 0, 1000, 1 << 30, partition)
        if decode_record(record.value).replay is not None
    ]
    twice = [f"{number}" for number in range(30) for _ in range(2)]
    assert sorted(copied, key=int) == twice


def test_a_place_names_one_partition() -> None:
    log = partitioned()
    second = log.read(Topic.CAPTURED, 0, 2, 1 << 30, 1)[1]
    result = replay(log, start_of(log, Topic.CAPTURED, "--from", f"{second.offset}:1"), everyone)
    assert result.records == len(log.read(Topic.CAPTURED, 0, 1000, 1 << 30, 1)) // 2
    with pytest.raises(SelectionError, match="there are 3 partitions; say which, as 4:0"):
        start_of(log, Topic.CAPTURED, "--from", "4")


def test_an_interrupted_replay_leaves_whole_appends(settings: Settings, capture) -> None:
    """And the next one is none the worse for it."""
    capture(*(record_of(captured(text)) for text in "abc"))

    def interrupt(count: int) -> None:
        if count == 3:
            raise KeyboardInterrupt

    with EmbeddedLog.open(settings.log_path) as log, pytest.raises(KeyboardInterrupt):
        replay(log, {}, everyone, on_progress=interrupt)
    assert replayed(settings, "beginning")[0].records == 3
    assert len(events(settings)) == 3


def test_the_command(tmp_path: Path, settings: Settings, capture) -> None:
    capture(record_of(captured("a")))
    done = run(INGEST, "replay", "--from", "beginning", "--json", home=tmp_path)
    assert (done.returncode, json.loads(done.stdout)["records"]) == (0, 1)
    assert run(INGEST, "replay", home=tmp_path).returncode == 2
    assert run(INGEST, "replay", "--from", "never", home=tmp_path).returncode == 2
    with EmbeddedLog.open(settings.log_path) as log:
        log.append([NewRecord(Topic.CAPTURED, "k", b"{")])
    assert run(INGEST, "replay", "--from", "beginning", "--dry-run", home=tmp_path).returncode == 1


def test_what_is_mended_is_exported_as_it_is_now(settings: Settings, capture, monkeypatch) -> None:
    """Once, in the place of what it was, and without the mark."""
    capture(record_of(captured("a"), captured("b", role="assistant")))
    monkeypatch.setattr(drafts, "speaker", lambda *_: ("assistant", True))
    replayed(settings, "beginning")
    with EmbeddedLog.open(settings.log_path, read_only=True) as log:
        found = list(Reading(log, Selection()).selected())
    assert [(event.event.text, event.event.role, event.event.labels) for _, event in found] == [
        ("b", "assistant", []), ("a", "assistant", []),
    ]  # fmt: skip
    assert [json.loads(record.value)["event"]["role"] for record, _ in found] == ["assistant", "assistant"]
