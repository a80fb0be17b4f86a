"""What the commands of `session-ingest` do; imported only when one is called."""
