"""Promise: what an operator should hear of becomes one signal an event and code, with the words that prove it."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.log.contract import Record, Topic
from ingest.processors.gaps import GAPS, gap_codes, recommendation
from ingest.processors.signals import CODES, EVIDENCE_CHARS, SignalsProcessor, derive, evidence_of
from schemas.captured import RejectedRecord
from schemas.event import Refs, decode, encode
from schemas.ids import derived_id
from tests.support.processors import NOON_MS, MemoryState, event, event_records, run

BASH = {"type": "tool_result", "role": "toolResult", "tool_name": "bash"}
READ = {"type": "tool_result", "role": "toolResult", "tool_name": "read"}
FAILED = {**READ, "labels": ["error"]}
ERROR = {"type": "status", "role": "assistant", "labels": ["error"]}
SAID = {"role": "assistant"}


def codes(text: str, members: dict[str, Any]) -> list[str]:
    return [evidence.code for evidence in evidence_of(event(text, **members))]


@pytest.mark.parametrize(
    ("text", "members", "code"),
    [
        ("bash: line 1: jq: command not found", BASH, "command-not-found"),
        ("/bin/sh: 1: jq: not found", BASH, "command-not-found"),
        ("zsh: command not found: jq", BASH, "command-not-found"),
        ("'jq' is not recognized as an internal or external command,", BASH, "command-not-found"),
        ("x\ny\nsh: jq: not found\nz", FAILED, "command-not-found"),
        ("spawn npx ENOENT", FAILED, "spawn-enoent"),
        ("Error: spawnSync rg ENOENT\n  at x", BASH, "spawn-enoent"),
        ("Unknown tool: browser", FAILED, "missing-capability"),
        ("Tool web_search is not available", FAILED, "missing-capability"),
        ("missing capability: network", ERROR, "missing-capability"),
        ('exec: "docker": executable file not found in $PATH', BASH, "missing-executable"),
        ("/usr/bin/env: \u2018node\u2019: No such file or directory", BASH, "missing-executable"),
        ("Login required: needs operator login first", FAILED, "instructions-required"),
        ("I need your instructions before going on.", SAID, "instructions-required"),
        ("I don't have a tool to open the browser.", SAID, "missing-capability"),
        ("429 Too Many Requests", ERROR, "rate-limit"),
        ("RESOURCE_EXHAUSTED", ERROR, "rate-limit"),
        ("You exceeded your current quota", ERROR, "rate-limit"),
        ("whatever", {**ERROR, "labels": ["rate-limit"]}, "rate-limit"),
        ("HTTP 429 from the mirror", FAILED, "rate-limit"),
        ("line to the keeper went dead", ERROR, "error"),
        ("aborted", {**ERROR, "labels": ["aborted"]}, "aborted"),
        ("I am blocked until the key comes.", SAID, "blocked"),
        ("All done.\n\n**Blocked:** the key is with Rui", SAID, "blocked"),
        ("Status: blocked - no key", SAID, "blocked"),
        ("Estou bloqueado sem a chave.", SAID, "blocked"),
        ("## Progress\n### Blocked\n- [ ] no key", {"type": "summary", "role": "compactionSummary"}, "blocked"),
    ],
)
def test_real_evidence_gives_its_code(text: str, members: dict[str, Any], code: str) -> None:
    assert codes(text, members) == [code]


@pytest.mark.parametrize(
    ("text", "members"),
    [
        ("bash: jq: command not found", {"role": "user"}),
        ("bash: jq: command not found", READ),
        ("When you see the command not found error, install it.", SAID),
        ("It prints:\n```\nbash: jq: command not found\n```", SAID),
        ("It printed `bash: jq: command not found` once.", SAID),
        ("> bash: jq: command not found", SAID),
        ("bash: ${cmd}: command not found", BASH),
        ("bash: <command>: command not found", BASH),
        ("ENOENT: no such file or directory, open 'x'", FAILED),
        ("404: Not Found", BASH),
        ("file.py:429: rate = 3", FAILED),
        ("instructions are required to build", BASH),
        ("3 tests failed", FAILED),
        ("all well", BASH),
        ("model p/m", {"type": "status", "role": "system"}),
        ("This unblocked the others; port 80 is blocked by the firewall rule.", SAID),
        ("## Blocked\n- (none)", {"type": "summary", "role": "system"}),
        ("I am blocked", {"role": "user"}),
        ("bash jq: command not found", {"type": "tool_call", "role": "assistant"}),
        ("I am blocked", {"type": "status", "role": "assistant", "labels": ["reasoning"]}),
    ],
)
def test_prose_templates_and_daily_work_give_none(text: str, members: dict[str, Any]) -> None:
    assert codes(text, members) == []


def test_a_derived_signal_points_at_its_event_and_quotes_it() -> None:
    source = event(
        "fine\n  bash: jq: command not found  \nTASK-A-1",
        **BASH,
        id="x-1",
        message_id="m-1",
        branch_id="b",
        title="t",
        workspace="/w",
    )
    (signal,) = derive(source)
    assert signal.source == source.source
    assert signal.event.id == derived_id("x-1", "signal", "command-not-found")
    assert (signal.event.type, signal.event.role) == ("signal", "tool")
    assert signal.event.timestamp_iso == source.event.timestamp_iso
    assert signal.event.text == "bash: jq: command not found"
    assert signal.event.labels == ["signal:command-not-found"]
    assert signal.event.refs == Refs(task_ids=["TASK-A-1"])
    assert (signal.meta.message_id, signal.meta.parent_message_id) == (None, "m-1")
    encode(signal)


def test_one_event_gives_each_code_once() -> None:
    text = "sh: a: command not found\nsh: b: command not found\nspawn c ENOENT"
    assert gap_codes(event(text, **BASH)) == ["command-not-found", "spawn-enoent"]


def test_an_evidence_line_is_bounded() -> None:
    text = "x" * 100_000 + " sh: jq: command not found " + "y" * 100_000
    (signal,) = derive(event("\n" + text[-100_100:], **BASH))
    assert len(signal.event.text) <= EVIDENCE_CHARS


def test_every_gap_has_a_recommendation() -> None:
    assert {rule.code for rule in GAPS} < set(CODES)
    assert all(recommendation(rule.code) for rule in GAPS)
    assert recommendation("other") == ""


def test_a_colony_signal_passes_byte_for_byte_and_others_are_added() -> None:
    events = [
        event("[COLONY_SIGNAL:DONE] [c1]", role="assistant"),
        event("nothing", role="user"),
        event("429", **ERROR),
    ]
    processor = SignalsProcessor()
    records = event_records(events)
    outputs = run(processor, records)
    assert [output.topic for output in outputs] == [Topic.SIGNALS] * 2
    assert outputs[0].value == records[0].value
    assert outputs[1].key == records[2].key
    assert processor.counts() == {"seen": 3, "emitted": 2, "colony": 1, "signal:rate-limit": 1}


def test_replaying_gives_the_same_bytes() -> None:
    records = event_records([event("429", **ERROR), event("sh: jq: command not found", **BASH)])
    assert run(SignalsProcessor(), records) == run(SignalsProcessor(), records, batch=1)


def test_a_record_that_is_no_event_is_rejected() -> None:
    (output,) = run(SignalsProcessor(), [Record(Topic.EVENTS, 3, "k", b"{}", NOON_MS)])
    rejected = msgspec.json.decode(output.value, type=RejectedRecord)
    assert (output.topic, rejected.where, rejected.stage) == (Topic.REJECTED, "offset 3", "processing")


def test_nothing_is_due_by_the_clock() -> None:
    assert SignalsProcessor().tick(NOON_MS, MemoryState()) == []


@pytest.mark.parametrize(
    "piece", ["sh: ", "not found ", "sh: 1: not found\n", "enoent ", "spawn ", "blocked ", "`", "\u0130"]
)
@pytest.mark.parametrize("members", [FAILED, SAID, ERROR])
def test_a_megabyte_of_one_piece_is_read(piece: str, members: dict[str, Any]) -> None:
    """Only so many candidates are looked at, each for a bounded number of characters."""
    found = evidence_of(event("words " + piece * (900_000 // len(piece)), **members))
    assert len(found) <= len(CODES)


@given(
    st.text(max_size=80),
    st.sampled_from(["message", "summary", "status", "tool_call", "tool_result"]),
    st.sampled_from(["user", "assistant", "toolResult"]),
    st.lists(st.sampled_from(["error", "aborted", "rate-limit"]), unique=True),
)
def test_derived_signals_are_strict_events_with_ids_of_their_own(
    text: str, kind: str, role: str, labels: list[str]
) -> None:
    source = event("words " + text, type=kind, role=role, labels=labels)
    signals = [decode(encode(signal)) for signal in derive(source)]
    assert len({signal.event.id for signal in signals} | {source.event.id}) == len(signals) + 1
