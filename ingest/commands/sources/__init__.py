"""What `session-ingest sources` does: which sources there are, and whether each would work."""
