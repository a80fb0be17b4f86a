"""A worker's stores, in memory and on disk, are what a sorted dictionary is, whatever is written and scanned."""

import tempfile
import time
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from ingest.log.contract import LogError
from ingest.streams.faust import rocks
from ingest.streams.faust.rocks import RocksStore
from ingest.streams.faust.shelf import Shelf
from ingest.streams.faust.stores import IDENTITY, MemoryStore, join_key, split_key
from tests.support.daemon import eventually
from tests.support.log import quick_folder

stores = st.sampled_from(["normalize", "summaries"])
keys = st.one_of(st.binary(max_size=4), st.sampled_from([b"due/1", b"due/2", b"due", b"t/1", b"\xff\xff"]))
values = st.none() | st.binary(max_size=4)


class StoreModel(RuleBasedStateMachine):
    """Both kinds beside a dictionary; the one on disk is closed and opened now and then."""

    @initialize()
    def begin(self):
        self.folder = tempfile.TemporaryDirectory()
        self.memory, self.disk = MemoryStore(), RocksStore(Path(self.folder.name) / "0")
        self.model = {}
        self.position = 0

    @rule(writes=st.dictionaries(st.tuples(stores, keys), values, max_size=5))
    def apply(self, writes):
        self.position += len(writes)
        for store in (self.memory, self.disk):
            store.apply(writes, self.position)
        for key, value in writes.items():
            self.model[key] = value
        self.model = {key: value for key, value in self.model.items() if value is not None}

    @rule(store=stores, asked=st.lists(keys, max_size=5))
    def look_up(self, store, asked):
        expected = {key: self.model[store, key] for key in asked if (store, key) in self.model}
        assert dict(self.memory.state(store, asked)) == dict(self.disk.state(store, asked)) == expected

    @rule(store=stores, prefix=st.sampled_from([b"", b"due", b"due/", b"t/", b"\xff"]), limit=st.integers(0, 4))
    def scan(self, store, prefix, limit):
        expected = sorted((k, v) for (of, k), v in self.model.items() if of == store and k.startswith(prefix))[:limit]
        assert self.memory.scan_state(store, prefix, limit) == expected
        assert self.disk.scan_state(store, prefix, limit) == expected

    @rule()
    def restart(self):
        self.disk.close()
        self.disk = RocksStore(Path(self.folder.name) / "0")

    @rule()
    def clear(self):
        for store in (self.memory, self.disk):
            store.clear()
        self.model, self.position = {}, 0

    @rule(offset=st.integers(0, 100), value=st.binary(min_size=16, max_size=16))
    def identify(self, offset, value):
        for store in (self.memory, self.disk):
            store.identify(offset, value)

    @invariant()
    def agree(self):
        if hasattr(self, "memory"):
            assert self.memory.position == self.disk.position == self.position
            assert self.memory.identity == self.disk.identity

    def teardown(self):
        if hasattr(self, "disk"):
            self.disk.close()
            self.folder.cleanup()


TestStores = StoreModel.TestCase
TestStores.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)


@pytest.mark.parametrize("key", [("normalize", b"\0\1"), ("summaries", b""), IDENTITY])
def test_keys_come_back_from_the_changelog_as_they_went_in(key):
    assert split_key(join_key(key)) == key


def test_a_key_that_names_no_store_is_refused():
    with pytest.raises(ValueError, match="names its store"):
        split_key(b"foreign")


def test_a_copy_that_may_have_missed_deletions_is_dropped(tmp_path, monkeypatch):
    store = RocksStore(tmp_path / "0")
    store.apply({("normalize", b"a"): b"1"}, 1)
    store.close()
    later = time.time() + rocks.STALE_S + 60
    monkeypatch.setattr(rocks.time, "time", lambda: later)
    again = RocksStore(tmp_path / "0")
    assert again.position == 0
    assert again.state("normalize", [b"a"]) == {}
    again.close()


def test_a_store_that_is_open_elsewhere_says_so(tmp_path):
    store = RocksStore(tmp_path / "0")
    with pytest.raises(LogError, match="another worker"):
        RocksStore(tmp_path / "0")
    store.close()


def test_a_shelf_keeps_stores_while_partitions_are_dealt_out_and_closes_the_others():
    made = []

    def make(partition):
        made.append(partition)
        return MemoryStore()

    shelf = Shelf(make)
    first = shelf.take(1)
    shelf.take(2)
    shelf.keep_only([1])
    assert shelf.take(1) is first
    shelf.discard(1)
    assert shelf.take(1) is not first
    assert made == [1, 2, 1]


def test_the_stores_of_a_process_share_one_bounded_memory():
    """By themselves 24 stores would hold 4 MiB each of what was written, and 32 of what was read.

    The bound is a soft one: each has half a MiB at least, and a flush counts until it ends, however long that takes.
    """
    cache, unwritten = rocks.shared_memory()
    with quick_folder() as folder:
        opened = [RocksStore(folder / str(partition)) for partition in range(24)]
        for part in range(38):  # 3.8 MB each, just before a store's own buffer is full
            keys = [part.to_bytes(4, "big") + key.to_bytes(4, "big") for key in range(100)]
            for store in opened:
                store.apply({("normalize", key): bytes(1000) for key in keys}, len(keys))
                assert len(store.state("normalize", keys)) == len(keys)
        assert unwritten.get_usage() > 0
        eventually(lambda: max(unwritten.get_usage(), cache.get_usage()) < 2 * rocks.MEMORY_BYTES, 60)
        for store in opened:
            store.close()
