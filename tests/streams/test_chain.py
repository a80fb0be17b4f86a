"""The chain of a worker gives what the processors give one after another, and a fault in one costs one record."""

from ingest.log.contract import NewRecord, Topic
from ingest.processors.chain import processors
from ingest.streams.faust.chain import EVENT_BITS, Chain
from ingest.streams.faust.stores import MemoryStore
from schemas.event import decode
from tests.support.processors import captured, captured_records, record_of
from tests.support.runner import Upper


def work_off(chain, store, records):
    work = chain.process(records, store)
    store.apply(work.state, store.position + len(work.state))
    return work


def ids(outputs, topic):
    return [decode(output.value).event.id for output in outputs if output.topic is topic]


def test_events_reach_signals_and_summaries_in_the_same_turn():
    said = captured("I am blocked: no key", id="a", role="assistant")
    records = captured_records([record_of(said, captured("well", id="b"))])
    work = work_off(Chain(processors()), MemoryStore(), records)
    assert ids(work.outputs, Topic.EVENTS) == ["a", "b"]
    assert len(ids(work.outputs, Topic.SIGNALS)) == 1
    assert {store for store, _ in work.state} == {"normalize", "summaries"}
    assert {step: counts["seen"] for step, counts in work.counts.items()} == {
        "normalize": 2,
        "signals": 2,
        "summaries": 2,
    }


def test_what_was_seen_before_passes_no_more_and_reaches_nobody():
    records = captured_records([record_of(captured("I am blocked: no key", id="a", role="assistant"))])
    chain, store = Chain(processors()), MemoryStore()
    work_off(chain, store, records)
    again = work_off(chain, store, records)
    assert again.outputs == []
    assert again.state == {}


class Follower(Upper):
    """Notes what it is given."""

    def __init__(self):
        super().__init__("follower", Topic.EVENTS, Topic.SIGNALS)
        self.given = []

    def process(self, records, state):
        self.given += records
        return super().process(records, state)


def test_an_event_has_an_offset_that_grows_and_the_time_of_its_captured_record():
    follower = Follower()
    chain = Chain([processors()[0], follower])
    first = record_of(captured("a", id="a"), captured("b", id="b"))
    work_off(chain, MemoryStore(), captured_records([first, record_of(captured("c", id="c"))], time_ms=77))
    assert [(record.offset >> EVENT_BITS, record.offset % (1 << EVENT_BITS)) for record in follower.given] == [
        (1, 0),
        (1, 1),
        (2, 0),
    ]
    assert {record.time_ms for record in follower.given} == {77}


def test_a_fault_in_a_later_processor_rejects_that_event_alone_and_keeps_the_event():
    chain = Chain([processors()[0], Upper("upper", Topic.EVENTS, Topic.SIGNALS)])
    records = captured_records([record_of(captured(word, id=word)) for word in ("a", "poison", "c")])
    work = work_off(chain, MemoryStore(), records)
    assert ids(work.outputs, Topic.EVENTS) == ["a", "poison", "c"]
    assert len([output for output in work.outputs if output.topic is Topic.SIGNALS]) == 2
    (rejected,) = [output for output in work.outputs if output.topic is Topic.REJECTED]
    assert b"processor-error" in rejected.value
    assert work.counts["upper"]["failed"] == 1


def test_a_tick_that_fails_writes_nothing_and_is_counted():
    upper = Upper()
    upper.poison_in_tick = True
    work = Chain([upper]).tick(1, MemoryStore())
    assert (work.outputs, work.state) == ([], {})
    assert work.counts["upper"] == {"failed": 1}
    assert not work.empty


def test_a_tick_writes_what_is_due_and_moves_state():
    store = MemoryStore()
    store.apply({("upper", b"due1"): b"x"}, 1)
    work = Chain([Upper()]).tick(1, store)
    assert work.outputs == [NewRecord(Topic.EVENTS, "k", b"tick due1")]
    assert work.state == {("upper", b"due1"): None}
