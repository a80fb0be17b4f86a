"""The running stream: capture, log, processors, streams, daemon."""
