"""Sources by name come from file and environment alike; what may be a secret stands in no message and no repr."""

import pytest

from ingest.secrets import MAX_SECRET_BYTES, SecretError, read_secret, secret
from ingest.settings import load
from ingest.settings_errors import SettingsError
from ingest.sources import adapters_of, places_of

SECRET = "the-words-nobody-may-see"  # noqa: S105 - looked for in messages
NAMED = "SESSION_INGEST__SOURCES__CUSTOM__MAIN__"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.delenv("SESSION_INGEST_CONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def written(home, text):
    path = home / "config.toml"
    path.write_text(text)
    return path


def mistakes(path=None):
    with pytest.raises(SettingsError) as caught:
        load(path)
    assert SECRET not in str(caught.value)
    return caught.value.lines


def test_any_number_of_sources_has_a_name(home):
    settings = load(written(home, '[sources.custom.a]\ntoken_file = "/x"\n[sources.custom.b-2]\nenabled = false\n'))
    assert settings.sources.custom["a"].enabled
    assert places_of(settings)["custom.a"] == ["POST /v1/events"]
    assert "custom.b-2" not in places_of(settings), "a source that is off is not followed"
    assert [adapter.name for adapter in adapters_of(settings)][-1] == "custom.a"


def test_a_variable_names_its_source_and_beats_the_file(home, monkeypatch):
    monkeypatch.setenv(NAMED + "TOKEN", SECRET)
    settings = load(written(home, '[sources.custom.main]\naccount = "work"\ntoken = "of-the-file"\n'))
    assert settings.sources.custom["main"].token.get_secret_value() == SECRET
    assert settings.sources.custom["main"].account == "work"
    assert SECRET not in repr(settings)


def test_the_environment_may_hold_a_whole_table(monkeypatch):
    monkeypatch.setenv("SESSION_INGEST__SOURCES__CUSTOM", '{"main": {"token": "t", "enabled": false}}')
    assert not load().sources.custom["main"].enabled


NOT_SHOWN = "; its value is a secret and not shown"
CUSTOM_KEYS = "here are: enabled, token, token_file, account"
MAIN = "[sources.custom.main]\n"
NAME_RULE = "must be a name of at most 40 lower-case letters, digits, dashes and underscores"


@pytest.mark.parametrize(("text", "line"), [
    (f'{MAIN}tokn = "{SECRET}"', f"main.tokn: there is no such setting; {CUSTOM_KEYS} (did you mean token?)"),
    (f'{MAIN}enabled = "x"', "main.enabled: must be true or false, not 'x'"),
    (f'[sources.custom]\nmain = "{SECRET}"', f"main: must be a section{NOT_SHOWN}"),
    (f'{MAIN}token = ["{SECRET}"]', f"main.token: must be a text{NOT_SHOWN}"),
    (f'{MAIN}token = "{SECRET}\\n"', f"main.token: must be a text without control characters{NOT_SHOWN}"),
    ('[sources.custom."A b"]\nenabled = true', f"A b: {NAME_RULE}{NOT_SHOWN}"),
    (f'{MAIN}account = " "', "main.account: must be a name without control characters, not ' '"),
])  # fmt: skip
def test_a_mistake_names_its_key_and_shows_no_secret(home, text, line):
    path = written(home, text)
    assert mistakes(path) == [f"{path}: sources.custom.{line}"]


def test_a_text_in_place_of_all_the_sections_is_not_shown_either(home):
    path = written(home, f'[sources]\ncustom = "{SECRET}"')
    assert mistakes(path) == [f"{path}: sources.custom: must be sections by name{NOT_SHOWN}"]


def test_a_host_name_is_no_url(home):
    path = written(home, '[http]\nnames = ["https://x.example"]')
    assert mistakes(path)[0].startswith(f"{path}: http.names: must be host names without a port, such as")


def test_mistakes_in_variables_of_named_sources_are_named(monkeypatch):
    monkeypatch.setenv(NAMED + "TOKN", SECRET)
    assert mistakes() == [f"{NAMED}TOKN: there is no such setting (did you mean {NAMED}TOKEN?)"]
    monkeypatch.delenv(NAMED + "TOKN")
    monkeypatch.setenv(NAMED + "ENABLED", "maybe")
    assert mistakes() == [f"{NAMED}ENABLED: must be true or false, not 'maybe'"]


@pytest.mark.parametrize("value", ["a.example,B.example", '["a.example", "B.example"]'])
def test_host_names_have_two_forms_in_the_environment(monkeypatch, value):
    monkeypatch.setenv("SESSION_INGEST__HTTP__NAMES", value)
    assert load().http.names == ["a.example", "b.example"]


def test_a_secret_comes_from_its_value_or_its_file_and_only_one(home):
    settings = load(written(home, f'[sources.custom.main]\ntoken = "{SECRET}"'))
    value, file = settings.sources.custom["main"].token, home / "token"
    file.write_text(f"{SECRET}\r\n")
    assert secret("s.token", value, None) == secret("s.token", None, file) == SECRET
    with pytest.raises(SecretError, match=r"s\.token and s\.token_file are both set"):
        secret("s.token", value, file)
    with pytest.raises(SecretError, match=r"s\.token is not set"):
        secret("s.token", None, None)


@pytest.mark.parametrize("content", [
    b"", b"\n", b"\xff\xfe", b"two\nlines", b"a\x00b", b"x" * (MAX_SECRET_BYTES + 1),
], ids=["empty", "blank", "binary", "two-lines", "nul", "huge"])  # fmt: skip
def test_what_is_no_secret_is_refused_without_its_content(home, content):
    file = home / "token"
    file.write_bytes(content)
    with pytest.raises(SecretError) as caught:
        read_secret(file)
    assert str(caught.value) in {
        f"{file}: a secret is UTF-8 text",
        f"{file}: a secret is one line of text, and nothing else",
    }


def test_a_file_that_is_not_there_is_named(home):
    with pytest.raises(SecretError, match="No such file"):
        read_secret(home / "none")
