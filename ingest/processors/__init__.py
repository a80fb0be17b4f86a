"""Normalise, deduplicate, detect signals, summarise: plain objects without I/O, the same under every engine."""
