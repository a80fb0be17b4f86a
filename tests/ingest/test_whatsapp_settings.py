"""`[sources.whatsapp.NAME]` makes a source each; what is wrong is said in a line, and no secret is ever part of one."""

import asyncio

import pytest

from adapters.chat.whatsapp import WhatsAppWebhook
from adapters.contract import PermanentSourceError
from ingest.settings import SettingsError, load
from ingest.sources import adapters_of, places_of, routes_of

PREFIX = "SESSION_INGEST__SOURCES__WHATSAPP__SHOP__"


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


def start(source: WhatsAppWebhook) -> None:
    """Begin to follow, and stop."""

    async def once() -> None:
        captures = source.captures({})
        await anext(captures)
        await captures.aclose()

    asyncio.run(once())


def test_an_app_is_a_source_with_an_address(given):
    given(verify_token="vt-words", app_secret="app-words")  # noqa: S106
    source = adapters_of(load())[-1]
    assert isinstance(source, WhatsAppWebhook)
    assert source.name == "whatsapp.shop"
    assert {(route.path, method) for route in routes_of([source]) for method in route.methods} == {
        ("/v1/whatsapp/shop", method) for method in ("GET", "HEAD", "POST")
    }
    assert places_of(load())["whatsapp.shop"] == ["POST /v1/whatsapp/shop"]
    start(source)
    assert not {"vt-words", "app-words"} & set(repr(load()).split("'"))


def test_files_are_read_at_each_start(given, home):
    given(verify_token_file=str(home / "verify"), app_secret_file=str(home / "app"))
    source = adapters_of(load())[-1]
    with pytest.raises(PermanentSourceError, match="verify: No such file"):
        start(source)
    (home / "verify").write_text("vt\n")
    with pytest.raises(PermanentSourceError, match="app: No such file"):
        start(source)
    (home / "app").write_text("secret\n")
    start(source)


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"verify_token": "vt"}, r"sources\.whatsapp\.shop\.app_secret is not set"),
        ({"app_secret": "secret-words"}, r"sources\.whatsapp\.shop\.verify_token is not set"),
        ({"verify_token": "vt", "verify_token_file": "/x", "app_secret": "a"}, "are both set"),
    ],
)
def test_what_is_missing_is_told_by_the_source(given, variables, words):
    given(**variables)
    with pytest.raises(PermanentSourceError, match=words) as error:
        start(adapters_of(load())[-1])
    assert "secret-words" not in str(error.value)


def test_an_unknown_setting_is_named(given):
    given(verify_token="vt", app_secret="secret-words", token="other-words")  # noqa: S106
    with pytest.raises(SettingsError, match="there is no such setting") as error:
        load()
    assert "words" not in str(error.value)


def test_one_that_is_switched_off_is_no_source(given):
    given(verify_token="vt", app_secret="a", enabled="false")  # noqa: S106
    assert not any(isinstance(each, WhatsAppWebhook) for each in adapters_of(load()))
