"""The words every floor shares: events, records, ids and keys."""
