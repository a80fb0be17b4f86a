"""Names under which this program's files and variables are found; for whoever must look without reading settings."""

from typing import Final

APP: Final = "session-triage"
"""The program's folder in the platform's state and configuration directories."""

CONFIG_VARIABLE: Final = "SESSION_INGEST_CONFIG"
PREFIX: Final = "SESSION_INGEST__"
"""Begins every variable that overrides a setting."""

TRIAGE_DB: Final = "triage.db"
"""The triage store in the state directory, where no URL names another."""
