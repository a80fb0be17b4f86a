"""The settings decide which sources there are, where they look, and from when on."""

from datetime import datetime
from pathlib import Path

import pytest

from adapters.files.drop import DropAdapter
from adapters.files.tail import JsonlTailAdapter
from ingest.settings import load
from ingest.sources import _since, adapters_of, places_of


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return tmp_path


def test_without_settings_pi_sessions_and_a_drop_folder(home):
    pi, drop = adapters_of(load())
    assert isinstance(pi, JsonlTailAdapter)
    assert isinstance(drop, DropAdapter)
    assert (pi.name, drop.name) == ("pi", "drop")
    assert home / ".pi" / "agent" / "sessions" in pi.roots
    assert drop.folder.path == home / "session-triage-drop"
    assert not drop.folder.path.exists(), "making adapters touches nothing"


def test_what_is_switched_off_is_not_there(monkeypatch):
    monkeypatch.setenv("SESSION_INGEST__SOURCES__PI__ENABLED", "no")
    settings = load()
    assert [adapter.name for adapter in adapters_of(settings)] == ["drop"]
    assert list(places_of(settings)) == ["drop"]


def test_named_paths_take_the_place_of_the_usual_ones(monkeypatch):
    monkeypatch.setenv("SESSION_INGEST__SOURCES__PI__PATHS", "/a:/b")
    settings = load()
    assert adapters_of(settings)[0].roots == [Path("/a"), Path("/b")]
    assert places_of(settings)["pi"] == ["/a", "/b"]


@pytest.mark.parametrize(("text", "since"), [
    ("start", "start"), ("now", "now"), ("2026-01-31", datetime(2026, 1, 31).astimezone()),
])  # fmt: skip
def test_back_fill_is_all_nothing_or_since_the_beginning_of_a_day_here(monkeypatch, text, since):
    monkeypatch.setenv("SESSION_INGEST__SOURCES__PI__BACKFILL", text)
    assert _since(load().sources.pi.backfill) == since
