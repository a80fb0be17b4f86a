"""Settings are right without a file, environment beats file, each mistake is one line that says what is allowed."""

from datetime import date, timedelta
from pathlib import Path

import pytest

from ingest.places import PREFIX
from ingest.settings import DEFAULT_PORT, Settings, config_path, load
from ingest.settings_errors import SettingsError, keys


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    for name in ("SESSION_INGEST_CONFIG", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def written(home: Path, text: str) -> Path:
    path = home / "config.toml"
    path.write_text(text)
    return path


def mistakes(path: Path | None = None) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        load(path)
    assert all("\n" not in line for line in caught.value.lines)
    return caught.value.lines


def test_without_any_file_everything_has_its_place(home):
    settings = load()
    assert home in settings.log_path.parents
    assert settings.log_path.name == "log.db"
    assert settings.sources.pi.enabled
    assert settings.sources.pi.backfill == "start"
    assert settings.sources.drop.path == home / "session-triage-drop"
    assert (settings.http.host, settings.http.port) == ("127.0.0.1", DEFAULT_PORT)
    assert settings.retention.keep is None


def test_a_file_sets_what_it_names(home):
    path = written(
        home,
        'state_dir = "~/s"\n[sources.pi]\npaths = ["/a", "~/b"]\nbackfill = 2026-01-31\n'
        '[retention]\nkeep = "90d"\n[processors]\nidle_after = "2h"\n',
    )
    settings = load(path)
    assert settings.state_dir == home / "s"
    assert settings.sources.pi.paths == [Path("/a"), home / "b"]
    assert settings.sources.pi.backfill == date(2026, 1, 31)
    assert settings.retention.keep == timedelta(days=90)
    assert settings.processors.idle_after == timedelta(hours=2)


def test_environment_beats_the_file_key_by_key(home, monkeypatch):
    path = written(home, '[http]\nport = 1234\nhost = "::1"\n')
    monkeypatch.setenv("SESSION_INGEST__HTTP__PORT", "0")
    assert (load(path).http.port, load(path).http.host) == (0, "::1")


@pytest.mark.parametrize("value", ["/a:~/b", '["/a", "~/b"]'])
def test_a_list_in_the_environment_has_two_forms(home, monkeypatch, value):
    monkeypatch.setenv("SESSION_INGEST__SOURCES__PI__PATHS", value)
    assert load().sources.pi.paths == [Path("/a"), home / "b"]


def test_the_file_is_found_by_option_then_variable_then_default(home):
    named = {"SESSION_INGEST_CONFIG": "/v.toml"}
    assert config_path(Path("/o.toml"), named) == (Path("/o.toml"), True)
    assert config_path(None, named) == (Path("/v.toml"), True)
    path, is_named = config_path(None, {})
    assert path.name == "config.toml"
    assert not is_named


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[http]\nport = 99999", "http.port: must be at most 65535, not 99999"),
        ('[http]\nport = "x"', "http.port: must be a whole number, not 'x'"),
        ('[sources.pi]\nenabled = "maybe"', "sources.pi.enabled: must be true or false, not 'maybe'"),
        (
            '[sources.pi]\nbackfill = "yesterday"',
            'sources.pi.backfill: must be "start", "now", or a date such as 2026-01-31, not \'yesterday\'',
        ),
        (
            '[sources.pi]\npaths = ["rel"]',
            "sources.pi.paths: must be an absolute path, or one that begins with ~/, not 'rel'",
        ),
        ('[retention]\nkeep = "soon"', "retention.keep: must be a duration such as 30m, 2h or 7d, not 'soon'"),
        ('[retention]\nkeep = "0s"', "retention.keep: must be a duration above 0, not '0s'"),
        ('[log]\nlevel = "loud"', "log.level: must be one of 'debug', 'info', 'warning' or 'error', not 'loud'"),
        ("http = 3", "http: must be a section, not 3"),
        (
            '[http]\nhots = "x"',
            "http.hots: there is no such setting; here are: enabled, host, port, names (did you mean host?)",
        ),
    ],
)
def test_a_mistake_in_the_file_names_file_key_and_what_is_allowed(home, text, line):
    path = written(home, text)
    assert mistakes(path) == [f"{path}: {line}"]


def test_all_mistakes_are_told_at_once(home):
    assert len(mistakes(written(home, 'stat_dir = "/x"\n[http]\nport = -1\nhots = 1\n'))) == 3


def test_a_mistake_in_the_environment_names_the_variable(monkeypatch):
    monkeypatch.setenv("SESSION_INGEST__HTTP__PORT", "no")
    assert mistakes() == ["SESSION_INGEST__HTTP__PORT: must be a whole number, not 'no'"]


def test_an_unknown_variable_of_ours_is_a_mistake(monkeypatch):
    monkeypatch.setenv("SESSION_INGEST__HTTP__PROT", "1")
    assert mistakes() == [
        "SESSION_INGEST__HTTP__PROT: there is no such setting (did you mean SESSION_INGEST__HTTP__PORT?)"
    ]


def test_a_list_in_the_environment_that_is_no_json_is_a_mistake(monkeypatch):
    monkeypatch.setenv("SESSION_INGEST__SOURCES__PI__PATHS", "[3")
    assert mistakes()[0].startswith("SESSION_INGEST__SOURCES__PI__PATHS: must be paths separated by colons")


@pytest.mark.parametrize(("content", "words"), [(b"[http", "no valid TOML"), (b"\xff\xfe", "no valid TOML")])
def test_a_file_that_is_no_toml_is_named(home, content, words):
    path = home / "config.toml"
    path.write_bytes(content)
    assert mistakes(path)[0].startswith(f"{path}: {words}")


def test_a_named_file_that_is_missing_or_a_folder_is_a_mistake(home):
    assert mistakes(home / "none.toml") == [f"{home / 'none.toml'}: there is no such file"]
    assert mistakes(home) == [f"{home}: Is a directory"]


@pytest.mark.parametrize("key", list(keys(Settings)), ids=".".join)
def test_every_setting_can_be_overridden_by_environment(monkeypatch, key):
    """A wrong value reaches its key: no setting is out of the environment's reach."""
    name = PREFIX + "__".join(key).upper()
    monkeypatch.setenv(name, "" if key[-1] == "host" else "\x01")
    assert mistakes()[0].startswith(name)
