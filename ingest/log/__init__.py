"""The durable log: one contract, two engines."""
