"""Provider and account keys are normalised in one way; the table is that of the origin's page, 1.8."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.keys import InvalidKeyError, account_name, parse_key, provider_account_key, provider_name, thread_key


@pytest.mark.parametrize(
    ("raw", "key"),
    [
        ("pi", "pi"),
        ("Pi/ANA@x.com", "pi/ana@x.com"),
        ("telegram/", "telegram"),
        (" Matrix / @ana:home ", "matrix/@ana:home"),
        ("pi/unknown", "pi"),
        ("a/b/c", "a/b/c"),
    ],
)
def test_key_table(raw: str, key: str) -> None:
    assert provider_account_key(*parse_key(raw)) == key


@pytest.mark.parametrize("raw", ["/x", "", "  ", " /"])
def test_key_without_provider_is_refused(raw: str) -> None:
    with pytest.raises(InvalidKeyError, match="no provider"):
        parse_key(raw)


@given(st.text())
def test_normalising_a_key_again_changes_nothing(raw: str) -> None:
    try:
        key = provider_account_key(*parse_key(raw))
    except InvalidKeyError:
        return
    assert provider_account_key(*parse_key(key)) == key


@pytest.mark.parametrize("raw", [None, 7, "", "  ", [], "UNKNOWN"])
def test_what_is_no_name_is_unknown(raw: object) -> None:
    assert provider_name(raw) == "unknown"
    assert account_name(raw) is None


def test_thread_key_joins_account_and_thread() -> None:
    assert thread_key("pi/ana", "t1") == "pi/ana/t1"
