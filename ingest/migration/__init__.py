"""Moving an embedded log to Apache Kafka: everything in it, once, and resumable."""
