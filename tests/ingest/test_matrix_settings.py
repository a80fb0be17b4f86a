"""`[sources.matrix.NAME]` makes a source each; what is wrong is said in a line, and no secret is ever part of one."""

import pytest

from adapters.chat.matrix import MatrixSource
from adapters.contract import PermanentSourceError
from ingest.settings import SettingsError, load
from ingest.sources import adapters_of, places_of

PREFIX = "SESSION_INGEST__SOURCES__MATRIX__OPS__"
USUAL = {"homeserver": "https://hs.test/", "user": "@ingest:hs.test"}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return tmp_path


@pytest.fixture
def given(monkeypatch):
    def give(**variables: str) -> None:
        for name, value in {**USUAL, **variables}.items():
            monkeypatch.setenv(PREFIX + name.upper(), value)

    return give


def made() -> MatrixSource:
    source = adapters_of(load())[-1]
    assert isinstance(source, MatrixSource)
    return source


def test_an_account_is_a_source(given):
    given(token="syt_secret", operators="@op:hs.test, @ana:hs.test", bots='["@bridge:hs.test"]')  # noqa: S106
    source = made()
    assert (source.name, source.account, source.homeserver, source.user) == (
        "matrix.ops", "ops", "https://hs.test", "@ingest:hs.test",
    )  # fmt: skip
    assert (source.operators, source.bots) == ({"@op:hs.test", "@ana:hs.test"}, {"@bridge:hs.test"})
    assert (source.backfill, source.join, source.encryption) == ("start", "operators", True)
    assert source.token is not None
    assert (source.token(), source.password) == ("syt_secret", None)
    assert places_of(load())["matrix.ops"] == ["https://hs.test"]
    assert "syt_secret" not in repr(source) + repr(load())


def test_an_account_with_a_password_has_a_place_for_its_device(given, home):
    given(password="s3cret words", backfill="now", join="never", encryption="false", account="team")  # noqa: S106
    source = made()
    assert source.password is not None
    assert (source.token, source.password(), source.account) == (None, "s3cret words", "team")
    assert source.folder == load().state_dir / "matrix" / "ops"
    assert (source.backfill, source.join, source.encryption) == ("now", "never", False)
    assert "s3cret" not in repr(source) + repr(load())
    assert not source.folder.exists(), "making it reads and writes nothing"


def test_a_token_counts_before_a_password(given):
    given(password="one", token="two")  # noqa: S106
    assert made().password is None


def test_a_file_is_read_at_each_start(given, home):
    """A new token needs no restart."""
    file = home / "token"
    given(token_file=str(file))
    source = made()
    assert source.token is not None
    with pytest.raises(PermanentSourceError, match="token: No such file"):
        source.token()
    for token in ("old", "new"):
        file.write_text(token + "\n")
        assert source.token() == token


def test_a_missing_token_is_told_by_the_source(given):
    given()
    source = made()
    assert source.token is not None
    with pytest.raises(PermanentSourceError, match=r"sources\.matrix\.ops\.token is not set"):
        source.token()


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"homeserver": "hs.test"}, "must be the address of a homeserver"),
        ({"homeserver": "https://user:pass@hs.test"}, "must be the address of a homeserver"),
        ({"homeserver": "ftp://hs.test"}, "must be the address of a homeserver"),
        ({"user": "ingest"}, "must be the whole id of a user"),
        ({"user": "@in gest:hs.test"}, "must be the whole id of a user"),
        ({"operators": "op"}, "must be the whole id of a user"),
        ({"operators": "[7]"}, "must be ids of users"),
        ({"operators": "[broken"}, "must be ids of users"),
        ({"backfill": "2026-01-01"}, "must be one of 'start' or 'now'"),
        ({"join": "everyone"}, "must be one of"),
        ({"tokn": "secret-words"}, "there is no such setting"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(given, variables, words):
    given(token="secret-words", **variables)  # noqa: S106
    with pytest.raises(SettingsError) as error:
        load()
    assert words in str(error.value)
    assert "secret-words" not in str(error.value)
