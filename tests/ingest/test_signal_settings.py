"""`[sources.signal.NAME]` makes a source each; what is wrong is said in a line."""

import pytest

from adapters.chat.signal import SignalSource
from ingest.settings import SettingsError, load
from ingest.sources import adapters_of, places_of

PREFIX = "SESSION_INGEST__SOURCES__SIGNAL__OPS__"
NUMBER = "+15550100001"


@pytest.fixture
def given(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("SESSION_INGEST__STATE_DIR", str(tmp_path / "state"))

    def give(**variables: str) -> None:
        for name, value in variables.items():
            monkeypatch.setenv(PREFIX + name.upper(), value)

    return give


def test_an_account_is_a_source_with_a_journal_of_its_own(given, tmp_path):
    given(account=NUMBER)
    source = adapters_of(load())[-1]
    assert isinstance(source, SignalSource)
    assert (source.name, source.account, source.address.text) == ("signal.ops", NUMBER, "127.0.0.1:7583")
    assert source.journal == tmp_path / "state" / "signal" / "ops.journal"
    assert not source.journal.exists()


@pytest.mark.parametrize(
    "address",
    ["/run/signal-cli/socket", "signal.example:7583", "[::1]:7583", "http://127.0.0.1:8080", "http://[::1]:1/"],
)
def test_addresses_are_sockets_and_ports(given, address):
    given(account=NUMBER, address=address)
    assert places_of(load())["signal.ops"] == [address]


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({}, "account"),
        ({"account": "15550100001"}, "the number of the account as signal-cli has it"),
        ({"account": NUMBER, "address": "localhost"}, "an address of signal-cli"),
        ({"account": NUMBER, "address": "localhost:99999"}, "an address of signal-cli"),
        ({"account": NUMBER, "address": "https://localhost:1"}, "an address of signal-cli"),
        ({"account": NUMBER, "token": "x"}, "there is no such setting"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(given, variables, said):
    given(enabled="true", **variables)
    with pytest.raises(SettingsError) as error:
        load()
    assert said in str(error.value)
