"""The daemon's log: JSON for machines, words for people, repeats held back, never a traceback with local values."""

import io
import json
import logging
from collections import deque

import pytest
import structlog

from ingest.logs import OURS, RepeatLimiter, configure


@pytest.fixture(autouse=True)
def _restored():
    root = logging.getLogger()
    handlers, levels = root.handlers[:], {name: logging.getLogger(name).level for name in (None, *OURS)}
    yield
    root.handlers[:] = handlers
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


def entries(stream):
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_ours_and_the_libraries_entries_have_one_shape():
    stream = io.StringIO()
    assert configure("info", "auto", stream) is False
    structlog.contextvars.bind_contextvars(source="pi")
    structlog.get_logger("ingest.x").info("started", files=3)
    logging.getLogger("theirs").warning("odd %s", "thing")
    ours, theirs = entries(stream)
    assert (ours["event"], ours["files"], ours["level"], ours["logger"]) == ("started", 3, "info", "ingest.x")
    assert (theirs["event"], theirs["level"], theirs["logger"]) == ("odd thing", "warning", "theirs")
    assert ours["source"] == theirs["source"] == "pi"
    assert ours["timestamp"].endswith("Z")


def test_libraries_are_heard_from_warnings_on():
    """One line a changed file would drown what the daemon tells."""
    stream = io.StringIO()
    configure("info", "json", stream)
    logging.getLogger("watchfiles.main").info("1 change detected")
    logging.getLogger("adapters.files").info("ours")
    assert [entry["event"] for entry in entries(stream)] == ["ours"]


def test_the_level_holds():
    stream = io.StringIO()
    configure("warning", "json", stream)
    structlog.get_logger("ingest.x").info("quiet")
    structlog.get_logger("ingest.x").error("loud")
    assert [entry["event"] for entry in entries(stream)] == ["loud"]


def fail_with(local):
    raise ValueError(len(local))


@pytest.mark.parametrize("form", ["json", "console"])
def test_a_traceback_shows_no_local_values(form):
    """Local variables hold words of conversations."""
    stream = io.StringIO()
    configure("info", form, stream)
    try:
        fail_with("words of a " + form)
    except ValueError as error:
        structlog.get_logger("ingest.x").error("failed", exc_info=error)
    assert "ValueError: " in stream.getvalue()
    assert f"words of a {form}" not in stream.getvalue()


def test_a_repeated_warning_is_held_back_and_counted():
    now = deque([0.0, 1.0, 9.9, 10.0, 10.1])
    limiter = RepeatLimiter(10, now.popleft)
    passed = []
    for _ in range(5):
        try:
            passed.append(limiter(None, "error", {"event": "refused", "level": "error", "pause": len(passed)}))
        except structlog.DropEvent:
            passed.append(None)
    assert [entry and entry.get("repeated", 0) for entry in passed] == [0, None, None, 2, None]


def test_a_library_whose_warning_is_held_back_goes_on():
    """What says to drop an entry is no `Exception`: it would end the library's own work."""
    stream = io.StringIO()
    configure("info", "json", stream)
    for _ in range(3):
        logging.getLogger("theirs").error("away")
    assert [entry["event"] for entry in entries(stream)] == ["away"]


def test_different_warnings_and_all_information_pass():
    limiter = RepeatLimiter(10, lambda: 0.0)
    for source in ("a", "b"):
        assert limiter(None, "error", {"event": "refused", "level": "error", "source": source})
    for _ in range(3):
        assert limiter(None, "info", {"event": "stopped", "level": "info"})


def test_what_is_remembered_is_bounded():
    limiter = RepeatLimiter(10, lambda: 0.0)
    for number in range(5000):
        limiter(None, "error", {"event": str(number), "level": "error"})
    assert len(limiter._seen) == 1000
