"""Promise: every provider's time value becomes UTC ISO 8601 with milliseconds, or is known to be none."""

import math
import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.processors.times import from_ms, to_iso, to_ms

FORM = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")


@pytest.mark.parametrize(
    ("raw", "iso"),
    [
        ("2026-03-14T11:58:20.500Z", "2026-03-14T11:58:20.500Z"),
        ("2026-03-14T13:58:20.5+02:00", "2026-03-14T11:58:20.500Z"),
        ("2026-03-14T11:58:25Z", "2026-03-14T11:58:25.000Z"),
        ("2026-03-14", "2026-03-14T00:00:00.000Z"),
        ("20260314", "2026-03-14T00:00:00.000Z"),
        ("20260314T115825Z", "2026-03-14T11:58:25.000Z"),
        ("2026-03-14 11:58:25", "2026-03-14T11:58:25.000Z"),
        ("2026-03-14t11:58:25z", "2026-03-14T11:58:25.000Z"),
        ("2026-03-14T11:58", "2026-03-14T11:58:00.000Z"),
        ("2026-03-14 11:58:25 UTC", "2026-03-14T11:58:25.000Z"),
        ("2026-03-14 11:58:25.123456+00", "2026-03-14T11:58:25.123Z"),
        ("2026-03-14T11:58:25,999999999Z", "2026-03-14T11:58:25.999Z"),
        ("2026-03-14T11:58:25.1Z", "2026-03-14T11:58:25.100Z"),
        ("2026-03-14T11:58:25-0330", "2026-03-14T15:28:25.000Z"),
        ("  2026-03-14T11:58:25Z\n", "2026-03-14T11:58:25.000Z"),
        ("1961-04-12T06:07:00.000Z", "1961-04-12T06:07:00.000Z"),
        ("2093-01-01T00:00:00.000Z", "2093-01-01T00:00:00.000Z"),
        ("0033-04-03T12:00:00Z", "0033-04-03T12:00:00.000Z"),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"),
        ("2026-03-14T24:00:00Z", "2026-03-15T00:00:00.000Z"),
        (1773489793251, "2026-03-14T12:03:13.251Z"),
        (1773489793, "2026-03-14T12:03:13.000Z"),
        (1773489793.123456, "2026-03-14T12:03:13.123Z"),
        (99_999_999_999, "5138-11-16T09:46:39.000Z"),
        (100_000_000_000, "1973-03-03T09:46:40.000Z"),
        (-275_248_380, "1961-04-12T06:07:00.000Z"),
        ("1773489793251", "2026-03-14T12:03:13.251Z"),
        ("1773489793", "2026-03-14T12:03:13.000Z"),
        ("1773489793.123456", "2026-03-14T12:03:13.123Z"),
    ],
)
def test_a_usable_time_is_utc_with_three_decimals(raw: object, iso: str) -> None:
    assert to_iso(raw) == iso


@pytest.mark.parametrize(
    "raw",
    [
        "soon", "", "   ", "2026", "2026-03", "2026-W11-6", "2026-W01-1T03:04:05.000Z", "2026-073", "12345678x",
        "2026-02-30", "2026-02-30T00:00:00.000Z", "2026-13-01T00:00:00.000Z", "2026-03-14T25:00:00.000Z",
        "2026-03-14T11:60:00Z", "2026-03-14T11:58:61Z", "2026-03-14T24:00:01Z", "0000-01-01T00:00:00.000Z",
        "2026-03-14T11:58:25+24:00", "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00",
        "\uff12\uff10\uff12\uff16-03-14T11:58:20.500Z", "2026/03/14", "14.03.2026", "99999999999999999",
        True, False, None, [], {}, b"2026-03-14", math.nan, math.inf, -math.inf, 0, 0.0, -1, 10**400, -(10**400), 1e300,
        253_402_300_800_000,
    ],
)  # fmt: skip
def test_what_is_no_time_is_none(raw: object) -> None:
    assert to_iso(raw) is None


def test_a_time_in_the_right_form_is_given_back_itself() -> None:
    """The form that nearly every value has costs no new text."""
    raw = "2026-03-14T11:58:20.500Z"
    assert to_iso(raw) is raw


@given(
    st.one_of(st.text(), st.integers(), st.floats(), st.datetimes().map(str), st.datetimes().map(datetime.isoformat))
)
def test_any_value_gives_the_form_or_none_and_gives_it_again(raw: object) -> None:
    iso = to_iso(raw)
    if iso is not None:
        assert FORM.fullmatch(iso)
        assert to_iso(iso) == iso


@given(st.datetimes(timezones=st.just(UTC)))
def test_an_aware_time_keeps_its_moment_to_the_millisecond(moment: datetime) -> None:
    iso = to_iso(moment.isoformat())
    assert iso is not None
    assert datetime.fromisoformat(iso) == moment.replace(microsecond=moment.microsecond // 1000 * 1000)


@given(st.integers(-62_135_596_800_000, 253_402_300_799_999))
def test_milliseconds_and_text_are_two_forms_of_one_time(milliseconds: int) -> None:
    assert to_ms(from_ms(milliseconds)) == milliseconds


@given(st.integers())
def test_any_number_of_milliseconds_can_be_written(milliseconds: int) -> None:
    assert FORM.fullmatch(from_ms(milliseconds))
