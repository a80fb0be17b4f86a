"""Chat platforms: one module each, and what live adapters and readers of exports must agree on."""
