"""`[sources.telegram.NAME]` makes a source each; what is wrong is said in a line, and no secret is ever part of one."""

import pytest

from adapters.chat.telegram import TelegramSource
from adapters.chat.telegram_webhook import TelegramWebhook
from adapters.contract import PermanentSourceError
from ingest.settings import SettingsError, load
from ingest.sources import adapters_of, places_of

PREFIX = "SESSION_INGEST__SOURCES__TELEGRAM__OPS__"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return tmp_path


@pytest.fixture
def given(monkeypatch):
    def give(**variables: str) -> None:
        for name, value in variables.items():
            monkeypatch.setenv(PREFIX + name.upper(), value)

    return give


def test_a_bot_is_a_source_with_its_name_as_account(given):
    given(token="1:secret", operators="99, -100", api_url="http://127.0.0.1:8081")  # noqa: S106
    source = adapters_of(load())[-1]
    assert isinstance(source, TelegramSource)
    assert (source.name, source.account, source.token()) == ("telegram.ops", "ops", "1:secret")
    assert (source.operators, source.url) == ({99, -100}, "http://127.0.0.1:8081")
    assert places_of(load())["telegram.ops"] == ["http://127.0.0.1:8081"]
    assert "1:secret" not in repr(source) + repr(load())


def test_several_bots_stand_beside_each_other(home):
    path = home / "config.toml"
    path.write_text('[sources.telegram.a]\ntoken = "1:a"\n[sources.telegram.b]\ntoken = "2:b"\naccount = "team"\n')
    first, second = adapters_of(load(path))[-2:]
    assert (first.account, second.account) == ("a", "team")


def test_a_bot_that_sends_has_a_route(given):
    given(mode="webhook", token="1:a", secret="a-secret-of-enough-characters")  # noqa: S106
    source = adapters_of(load())[-1]
    assert isinstance(source, TelegramWebhook)
    assert [route.path for route in source.routes()] == ["/v1/telegram/ops"]
    assert places_of(load())["telegram.ops"] == ["POST /v1/telegram/ops"]


def test_a_token_file_is_read_at_each_start(given, home):
    """A new token needs no restart."""
    file = home / "token"
    given(token_file=str(file))
    source = adapters_of(load())[-1]
    with pytest.raises(PermanentSourceError, match="token: No such file"):
        source.token()
    for token in ("1:old", "1:new"):
        file.write_text(token + "\n")
        assert source.token() == token


def test_a_missing_token_is_told_by_the_source(given):
    given(account="team")
    with pytest.raises(PermanentSourceError, match=r"sources\.telegram\.ops\.token is not set"):
        adapters_of(load())[-1].token()


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"operators": "ana"}, "must be ids of users"),
        ({"api_url": "ftp://x"}, "must be the address of a Bot API server"),
        ({"api_url": "https://user:pass@x"}, "must be the address of a Bot API server"),
        ({"mode": "push"}, "must be one of 'polling' or 'webhook'"),
        ({"tokn": "1:secret-words"}, "there is no such setting"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(given, variables, words):
    given(token="1:secret-words", **variables)  # noqa: S106
    with pytest.raises(SettingsError) as error:
        load()
    assert words in str(error.value)
    assert "secret-words" not in str(error.value)
