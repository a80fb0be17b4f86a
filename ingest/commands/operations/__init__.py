"""Commands for who runs the log: look at what was rejected, work captured records off again, move to Kafka."""
