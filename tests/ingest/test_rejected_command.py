"""`session-ingest rejected`: what was rejected is listed, shown safely, and tried again where that can help."""

import json
from base64 import b64encode
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from ingest.commands.operations.printable import visible, visible_bytes
from ingest.commands.operations.rejected import list_rejected, show_rejected
from ingest.commands.operations.retry import Retried, RetryRequest, retry_rejected
from ingest.export_selection import SelectionError
from ingest.log.contract import NewRecord, Topic
from ingest.log.embedded import EmbeddedLog
from ingest.processors import drafts, signals
from ingest.processors.chain import processors
from ingest.rejections import Choice, NotRetriedError, Rejection, Retry, rejections
from ingest.settings import Settings
from ingest.streams.embedded import EmbeddedRunner
from schemas.captured import Origin, RejectedRecord, decode_record, encode_record
from tests.support.commands import INGEST, run
from tests.support.log import everything
from tests.support.partitions import PartitionedLog
from tests.support.processors import captured, record_of

READING = RejectedRecord(
    source="pi", where="/a/b.jsonl: line 3", reason="invalid-json", detail="odd", sample=b"{\x1b[2J", size_bytes=9_000
)


ALL = Choice()
NEVER_SEEN = {chr(code) for code in (*range(9), *range(11, 32), *range(0x7F, 0xA0), 0x202E, 0x200B, 0x2028)}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(state_dir=tmp_path / "state" / "session-triage")


def append(settings: Settings, *contents) -> None:
    with EmbeddedLog.open(settings.log_path) as log:
        for content in contents:
            topic = Topic.REJECTED if isinstance(content, RejectedRecord) else Topic.CAPTURED
            log.append([NewRecord(topic, "pi/t-1", content if isinstance(content, bytes) else encode_record(content))])
        EmbeddedRunner(log, processors()).run_until_caught_up()


def retry(settings: Settings, *places: str, choice: Choice = ALL, dry_run: bool = False) -> tuple[Retried, str]:
    console = Console(file=StringIO(), width=300)
    return retry_rejected(RetryRequest(list(places), choice, dry_run), settings, console), console.file.getvalue()


def listed(settings: Settings, capsys, choice: Choice = ALL, limit: int = 20) -> dict:
    list_rejected(settings, choice, limit, Console(file=StringIO()), as_json=True)
    return json.loads(capsys.readouterr().out)


def texts(settings: Settings, topic: Topic) -> list[str]:
    with EmbeddedLog.open(settings.log_path, read_only=True) as log:
        return [json.loads(record.value)["event"]["text"] for record in everything(log, topic)]


@pytest.fixture
def faulty(monkeypatch):
    """A program that fails on `poison` in a processor; gives what mends it."""

    def fail_in(module, name: str):
        right = getattr(module, name)

        def wrong(*arguments):
            if "poison" in repr(arguments):
                raise ZeroDivisionError("a fault in the program")
            return right(*arguments)

        monkeypatch.setattr(module, name, wrong)
        return lambda: monkeypatch.setattr(module, name, right)

    return fail_in


def test_a_list_counts_by_reason_and_shows_the_last(settings: Settings, capsys) -> None:
    append(settings, READING, READING, b"{", READING)
    found = listed(settings, capsys, limit=2)
    assert found["total"] == 4
    assert [(count["stage"], count["reason"], count["count"]) for count in found["reasons"]] == [
        ("reading", "invalid-json", 3), ("processing", "invalid-record", 1),
    ]  # fmt: skip
    assert [entry["place"] for entry in found["last"]] == ["3", "4"]


@pytest.mark.parametrize(
    ("choice", "count"),
    [
        (Choice(sources=frozenset({"pi"})), 1),
        (Choice(sources=frozenset({"pi", "conversations.captured"})), 2),
        (Choice(reasons=frozenset({"invalid-record"})), 1),
        (Choice(sources=frozenset({"pi"}), reasons=frozenset({"invalid-record"})), 0),
        (Choice(stage="processing"), 1),
        (Choice(since="2000-01-01T00:00:00.000Z"), 2),
        (Choice(since="2999-01-01T00:00:00.000Z"), 0),
    ],
)
def test_choices_of_one_kind_add_and_kinds_narrow(settings: Settings, capsys, choice: Choice, count: int) -> None:
    append(settings, READING, b"{")
    assert listed(settings, capsys, choice)["total"] == count


def test_a_list_for_people_obeys_nothing_that_was_rejected(settings: Settings) -> None:
    bad = RejectedRecord(source="p\x1b[2Ji", where="a\nb\u202e", reason="\x9b2J", detail="[red]x\x07")
    append(settings, bad)
    out = StringIO()
    list_rejected(settings, Choice(), 20, Console(file=out, width=200), as_json=False)
    assert "p\\x1b[2Ji  \\x9b2J\n    a b\\u202e · [red]x\\x07\n" in out.getvalue()


def test_nothing_rejected_is_said(settings: Settings) -> None:
    append(settings, record_of(captured("a")))
    out = StringIO()
    list_rejected(settings, Choice(), 20, Console(file=out, width=200), as_json=False)
    assert out.getvalue() == "Nothing was rejected.\n"


def test_show_gives_all_that_is_known_and_the_bytes(settings: Settings, capsys) -> None:
    append(settings, READING)
    show_rejected(settings, "1", Console(file=StringIO()), as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert (found["where"], found["sample"], found["sampleText"]) == (
        "/a/b.jsonl: line 3",
        b64encode(READING.sample).decode(),
        "{\\x1b[2J",
    )
    out = StringIO()
    show_rejected(settings, "1", Console(file=out, width=200), as_json=False)
    assert "9,000 bytes, 5 kept" in out.getvalue()
    assert "\x1b" not in out.getvalue()


@pytest.mark.parametrize("place", ["2", "0", "1:1", "x"])
def test_a_place_without_a_rejection_is_wrong_usage(settings: Settings, place: str) -> None:
    append(settings, READING)
    with pytest.raises(SelectionError, match="rejected"):
        show_rejected(settings, place, Console(file=StringIO()), as_json=False)


@given(st.text() | st.text(alphabet=st.characters(categories=["Cc", "Cf", "Zl", "Zp", "Cs"])))
def test_visible_text_moves_nothing(text: str) -> None:
    """Only newline and tab are left of what is not printable; printable text is as it was."""
    found = visible(text)
    assert not set(found) & NEVER_SEEN
    assert visible(found) == found
    if text.isprintable():
        assert found == text


@given(st.binary())
def test_any_bytes_become_visible(data: bytes) -> None:
    found = visible_bytes(data)
    assert found == visible(found)
    found.encode()


def test_what_a_processor_failed_on_is_worked_off_again(settings: Settings, faulty) -> None:
    mend = faulty(drafts, "speaker")
    append(settings, record_of(captured("fine")), record_of(captured("x", role="poison"), captured("y")))
    assert texts(settings, Topic.EVENTS) == ["fine"]
    result, _ = retry(settings, "1")
    assert (result.appended, result.processed, result.rejected_since) == (1, True, 1)
    mend()
    result, words = retry(settings, "1")
    assert (result.rejections, result.appended, result.not_retried, result.rejected_since) == (1, 1, 0, 0)
    assert "1 records were appended again" in words
    assert texts(settings, Topic.EVENTS) == ["fine", "x", "y"]


def test_trying_again_and_again_does_not_grow(settings: Settings, faulty) -> None:
    """A copy that is rejected again is no second thing to try: each record is appended once."""
    mend = faulty(drafts, "speaker")
    append(settings, record_of(captured("x", role="poison")), record_of(captured("y", role="poison")))
    for rejected in (2, 4, 6):
        result, _ = retry(settings, choice=Choice(stage="processing"))
        assert (result.rejections, result.appended) == (rejected, 2)
    mend()
    retry(settings, choice=Choice(stage="processing"))
    assert texts(settings, Topic.EVENTS) == ["x", "y"]
    retry(settings, choice=Choice(stage="processing"))
    assert texts(settings, Topic.EVENTS) == ["x", "y"]


def test_one_bad_event_of_a_record_is_tried_without_repeating_the_others(settings: Settings, monkeypatch) -> None:
    content = json.loads(encode_record(record_of(captured("good"), captured("bad", id="x"))))
    content["events"][1]["type"] = "future"
    append(settings, json.dumps(content).encode())
    assert texts(settings, Topic.EVENTS) == ["good"]
    result, _ = retry(settings, "1")
    assert (result.appended, result.rejected_since) == (1, 1)
    assert texts(settings, Topic.EVENTS) == ["good"]


def test_an_event_that_a_later_processor_failed_on_goes_through_it_again(settings: Settings, faulty) -> None:
    """It takes the place of itself: nobody counts it twice."""
    mend = faulty(signals, "derive")
    append(settings, record_of(captured("We are blocked by poison", role="assistant")))
    assert texts(settings, Topic.SIGNALS) == []
    mend()
    result, _ = retry(settings, choice=Choice(stage="processing"))
    assert result.appended == 1
    assert texts(settings, Topic.SIGNALS) == ["We are blocked by poison"]
    with EmbeddedLog.open(settings.log_path, read_only=True) as log:
        first, second = (json.loads(record.value)["event"] for record in everything(log, Topic.EVENTS))
    assert (second["id"], second["labels"]) == (first["id"], ["mended"])


def test_what_could_not_be_read_is_for_a_person(settings: Settings) -> None:
    append(settings, READING)
    result, words = retry(settings, "1")
    assert (result.appended, result.not_retried) == (0, 1)
    assert "/a/b.jsonl: line 3: it could not be read, and only its source can be mended; the first 5 of its" in words


def test_a_dry_run_tells_and_writes_nothing(settings: Settings, faulty) -> None:
    faulty(drafts, "speaker")
    append(settings, record_of(captured("x", role="poison")))
    result, words = retry(settings, "1", dry_run=True)
    assert (result.appended, result.processed) == (1, False)
    assert "would be appended again" in words
    with EmbeddedLog.open(settings.log_path, read_only=True) as log:
        assert len(everything(log, Topic.CAPTURED)) == 1


def rejection(**members) -> Rejection:
    bad = RejectedRecord(source="normalize", where="w", reason="processor-error", stage="processing", **members)
    log = PartitionedLog()
    log.append([NewRecord(Topic.REJECTED, "pi/t-1", encode_record(bad))])
    (found,) = rejections(log)
    return found


@pytest.mark.parametrize("partitions", [1, 3])
def test_a_record_is_found_again_where_the_log_was_moved(partitions: int) -> None:
    """Its offset is another's there: time and key tell which it is."""
    log = PartitionedLog(partitions)
    for number in range(20):
        log.append([NewRecord(Topic.CAPTURED, f"k-{number}", encode_record(record_of(captured(f"{number}"))))])
    time_ms = log.now
    log.append([NewRecord(Topic.CAPTURED, "pi/t-1", encode_record(record_of(captured("this"))))])
    log.append([NewRecord(Topic.CAPTURED, "pi/t-1", encode_record(record_of(captured("later"))))])
    (made,) = Retry(log).records(rejection(origin=Origin(Topic.CAPTURED, 3, time_ms, 7)))
    assert decode_record(made.value).events[0].text == "this"


@pytest.mark.parametrize(
    ("origin", "why"),
    [
        (None, "does not say which"),
        (Origin(Topic.CAPTURED, 3, 5), "no longer in the log"),
        (Origin("of.another.version", 3, 5), "no longer in the log"),
    ],
)
def test_what_cannot_be_found_is_said(origin: Origin | None, why: str) -> None:
    with pytest.raises(NotRetriedError, match=why):
        Retry(PartitionedLog()).records(rejection(origin=origin))


def test_what_failed_after_normalising_on_workers_is_let_through_though_unchanged() -> None:
    """There a later processor's events are not read from the log again: only their captured record leads to it."""
    log = PartitionedLog()
    time_ms = log.now
    log.append([NewRecord(Topic.CAPTURED, "pi/t-1", encode_record(record_of(captured("this"))))])
    found = rejection(origin=Origin(Topic.CAPTURED, 1, time_ms, 1))
    found.bad.source = "signals"
    (made,) = Retry(log).records(found)
    assert decode_record(made.value).replay.force


def test_the_command(tmp_path: Path, settings: Settings) -> None:
    append(settings, READING)
    done = run(INGEST, "rejected", "list", "--json", home=tmp_path)
    assert (done.returncode, json.loads(done.stdout)["total"]) == (0, 1)
    assert run(INGEST, "rejected", "show", "1", home=tmp_path).returncode == 0
    assert run(INGEST, "rejected", "show", "7", home=tmp_path).returncode == 2
    assert run(INGEST, "rejected", "list", "--stage", "dreaming", home=tmp_path).returncode == 2
    assert run(INGEST, "rejected", "retry", home=tmp_path).returncode == 2
    assert run(INGEST, "rejected", "retry", "1", "--all", home=tmp_path).returncode == 2
    assert run(INGEST, "rejected", "retry", "1", home=tmp_path).returncode == 1
    assert run(INGEST, "rejected", "retry", "--all", "--json", home=tmp_path).returncode == 0
    assert run(INGEST, "rejected", "list", home=tmp_path / "elsewhere").returncode == 1
