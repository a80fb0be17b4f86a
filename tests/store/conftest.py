"""Stores on both databases."""

from tests.support.stores import place, postgres, store

__all__ = ["place", "postgres", "store"]
