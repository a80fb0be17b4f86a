"""Processors on Kafka, in Faust workers: each captured event once, whatever is killed, paused or restarted.

What Faust does: membership in the consumer group, dealing out partitions, fetching, agents and their back-pressure
(`transport`, `app`). What it does not: offsets, state, producing. Tried with faust-streaming 0.15.3 and aiokafka 0.14:

* An agent's failure acknowledges what it was given; `take` acknowledges its batch in a `finally`, also when it is
  cancelled; when partitions are dealt out, what was fetched meanwhile is dropped, and where the group has no offset yet
  nothing seeks back. So what Faust delivers is a hint here (`lane`): a partition's own offset says what is due, and
  what was not delivered is read again (`processor_reread_records_total` counts it).
* A table's changelog and the offset are not atomic (a counter of 20 inputs was 23 after one `kill -9`), an update costs
  some 200 us, and Faust's exactly-once is in doubt upstream. So each partition has a transactional producer of its own,
  `<prefix>process.<partition>`: outputs, changelog records and the group's offset are one transaction (`writer`), and
  whoever opens the producer fences every former holder. This is exactly-once without Faust's, and without its
  processing guarantee being switched on: kills, hangs and restarts of workers and brokers are tested under load.
* A message costs Faust 200 us, 5,000 a second, even with an agent that does nothing. A fetch of one partition is one
  message here: 100,000 records in 2.4 s while they were being produced, on the machine on which 5,000 a second were
  measured before.

A turn of one partition: records, the whole chain of processors over them (`chain`), one transaction of 20 to 80 ms,
the same writes in the local copy of the state (`stores` in memory, `rocks` on disk). Concurrency is by partitions;
processing has one thread for all of them, as more would only take the interpreter's lock from each other. When a
partition is taken up (`partition`), its producer is opened first, then the group's offset and the changelog's end are
read: nothing that is read there can be changed by a former holder any more.

The changelog has one record for each event and changed thread, compacted by Kafka. Packing many remembered ids in one
record would be a third of the bytes, but nothing would compact it, and dropping it by age would let events pass again
that the log still has. What retention has taken from the log is forgotten (`forgetting`), as in the embedded log.
"""
