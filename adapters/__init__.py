"""One room per source: adapters know a source's structure and nothing of how events are stored."""
