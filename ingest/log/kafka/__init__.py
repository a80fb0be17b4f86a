"""The log on Apache Kafka, for more than one machine; needs the extra `kafka`."""
