"""Packing loses no event, keeps their order, keeps every record within its bound, and counts everything."""

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.contract import MAX_SAMPLE_BYTES, Rejected, Skipped, Warned
from ingest.log.contract import Topic
from ingest.packing import Packer, pack
from ingest.processors.size import TRUNCATED_LABEL
from schemas.captured import MAX_RECORD_BYTES, RejectedRecord, Thread, decode_record
from schemas.event import Citation
from tests.support.sources import THREAD, heard, ids_of

NOW = "2026-01-31T09:30:00.000Z"
OTHER = Thread(provider=" PI ", account="Me", thread_id="t2", title="Other")

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
elements = st.lists(
    st.one_of(
        st.builds(heard, st.uuids(), texts, st.sampled_from([THREAD, OTHER])),
        st.builds(Skipped, st.sampled_from(["empty", "hidden", "duplicate"]), st.just("x"), st.integers(1, 5)),
        st.builds(Rejected, st.text(min_size=1, max_size=9), st.sampled_from(["a", "b"]), texts, st.binary(max_size=9)),
        st.just(Warned("f", "odd")),
    ),
    max_size=40,
)


def packed(*given_elements):
    return pack(given_elements, "s", lambda: NOW)


def captured(result):
    return [record for record in result.records if record.topic is Topic.CAPTURED]


@given(elements)
@settings(deadline=None)
def test_every_event_comes_out_once_in_order_and_the_sums_hold(given_elements):
    result = packed(*given_elements)
    events = [element.event.id for element in given_elements if hasattr(element, "event")]
    assert ids_of(captured(result)) == events
    counts = result.progress.counts
    parts = sum(counts.get(name, 0) for name in ("emitted", "empty", "hidden", "duplicate", "rejected"))
    assert counts.get("seen", 0) == parts
    assert counts.get("emitted", 0) == len(events)
    dead = [record for record in result.records if record.topic is Topic.REJECTED]
    assert counts.get("rejected", 0) == len(dead)
    assert sum(count for name, count in counts.items() if name.startswith("rejected:")) == len(dead)


@given(st.lists(st.tuples(st.sampled_from('aé€\U0001f600"\x1b'), st.integers(0, 400_000)), min_size=1, max_size=6))
@settings(deadline=None, max_examples=30)
def test_no_record_passes_its_bound_whatever_the_characters_cost(parts):
    result = packed(*[heard(number, char * length) for number, (char, length) in enumerate(parts)])
    assert ids_of(captured(result)) == [str(number) for number in range(len(parts))]
    for record in captured(result):
        assert len(record.value) <= MAX_RECORD_BYTES + 1024


def test_an_oversize_text_is_cut_at_a_character_and_labelled():
    """As long as it can be: one more character would pass the bound."""
    event = decode_record(captured(packed(heard(1, "é" * 1_000_000, labels=["x"])))[0].value).events[0]
    assert event.labels == ["x", TRUNCATED_LABEL]
    assert set(event.text) == {"é"}
    assert MAX_RECORD_BYTES - 2 < len(msgspec.json.encode(event)) <= MAX_RECORD_BYTES


def test_an_event_that_is_too_large_without_its_text_is_rejected_alone():
    big = heard(2, citations=[Citation(quote="q" * 1000)] * 1000)
    result = packed(heard(1), big, heard(3))
    assert ids_of(captured(result)) == ["1", "3"]
    assert result.progress.counts["rejected:event-too-large"] == 1


def test_an_event_that_cannot_be_encoded_is_rejected_alone():
    """A lone surrogate from a foreign adapter costs one event, in the text as in its thread."""
    lone = Thread(provider="p", thread_id="\ud800")
    result = packed(heard(1), heard(2, "\ud800"), heard(3, thread=lone), heard(4))
    assert ids_of(captured(result)) == ["1", "4"]
    assert result.progress.counts["rejected:not-encodable"] == 2


def test_times_that_json_has_no_words_for_are_left_out():
    """A NaN would come out as null and make its whole record unreadable."""
    record = decode_record(captured(packed(heard(1, times=[float("nan"), 5, float("inf"), "x"])))[0].value)
    assert record.events[0].times == [5, "x"]


def test_a_record_holds_one_thread_and_its_key_is_the_normalised_one():
    result = packed(heard(1), heard(2), heard(3, thread=OTHER), heard(4))
    assert [record.key for record in captured(result)] == ["pi/t1", "pi/me/t2", "pi/t1"]


def test_a_rejected_element_does_not_split_its_neighbours():
    result = packed(heard(1), Rejected("f: byte 9", "bad-json"), heard(2))
    assert len(captured(result)) == 1


def test_nearby_times_are_those_of_the_first_event():
    first = heard(1)
    second = heard(2)
    result = pack([msgspec_nearby(first, (1.5, "a")), msgspec_nearby(second, (9,))], "s", lambda: NOW)
    record = decode_record(result.records[0].value)
    assert record.nearby_times == [1.5, "a"]
    assert record.captured_at == NOW


def msgspec_nearby(element, nearby):
    return type(element)(element.thread, element.event, nearby)


def test_a_rejected_record_keeps_place_reason_and_a_bounded_sample():
    """Names of files with bytes that are no UTF-8 are escaped."""
    result = packed(Rejected("\udcff.jsonl: byte 3", "line-too-long", "why", b"x" * 100_000, 2_000_000))
    record = msgspec.json.decode(result.records[0].value, type=RejectedRecord)
    assert (record.source, record.where, record.reason) == ("s", "\\udcff.jsonl: byte 3", "line-too-long")
    assert (len(record.sample), record.size_bytes) == (MAX_SAMPLE_BYTES, 2_000_000)


def test_a_packer_holds_back_only_the_open_record():
    packer = Packer("s", lambda: NOW)
    assert packer.feed(heard(1)) == ()
    assert ids_of(packer.feed(heard(2, thread=OTHER))) == ["1"]
    assert ids_of(packer.flush()) == ["2"]
    assert packer.flush() == ()
