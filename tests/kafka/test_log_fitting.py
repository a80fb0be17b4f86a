"""Whatever a record holds and whatever a topic takes: what goes out fits, in order, with nothing left out but text."""

from hypothesis import given
from hypothesis import strategies as st

from ingest.log.contract import LogError, NewRecord, Topic
from ingest.log.kafka.fitting import fit_record, room_for_record
from schemas.captured import CapturedEvent, CapturedRecord, Thread, decode_record, encode_record

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=400)


@given(st.lists(texts, min_size=1, max_size=12), st.integers(400, 3_000), st.integers(1, 30))
def test_a_captured_record_is_parted_until_it_fits(words, room, repeat):
    events = [
        CapturedEvent(id=f"{number:036d}", type="message", role="user", text=text * repeat)
        for number, text in enumerate(words)
    ]
    record = CapturedRecord(thread=Thread(provider="pi", thread_id="t"), events=events, captured_at="now")
    parts = fit_record(NewRecord(Topic.CAPTURED, "key", encode_record(record)), room)
    assert all(len(part.key) + len(part.value) <= room for part in parts)
    assert {part.key for part in parts} == {"key"}
    came = [event for part in parts for event in decode_record(part.value).events]
    assert [event.id for event in came] == [event.id for event in events]
    for event, before in zip(came, events, strict=True):
        assert before.text.startswith(event.text)
        if event.text != before.text:
            assert event.labels == ["truncated"]


@given(st.binary(max_size=300), st.sampled_from(Topic), st.integers(1, 200))
def test_what_is_no_record_of_its_topic_passes_or_is_refused_by_name(value, topic, room):
    record = NewRecord(topic, "k", value)
    try:
        fitted = fit_record(record, room)
    except LogError as error:
        assert str(topic) in str(error)  # noqa: PT017 - both outcomes are right
        assert len(value) + 1 > room
    else:
        assert all(len(each.value) + 1 <= room for each in fitted)


@given(st.integers(2_000, 10_000_000))
def test_room_leaves_some_for_what_kafka_adds(limit):
    assert 0 < room_for_record(limit) < limit - 1_000
