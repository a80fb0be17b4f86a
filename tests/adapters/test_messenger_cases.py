"""The table that says which test holds which right answer of the messenger cases is whole and true."""

import re

import pytest

from tests.support.daemon import ROOT
from tests.support.messengers import CASES

ROW = re.compile(r"\| (\d\d) \| ([^|]+) \| (\w+\.py)::(\w+) \|")
ROWS = ROW.findall((CASES / "README.md").read_text())
IN_OTHER_TESTS = ("-mx-", "57-element-")


def test_every_case_has_rows() -> None:
    cases = [folder for folder in CASES.glob("[0-9]*") if not any(part in folder.name for part in IN_OTHER_TESTS)]
    assert {folder.name[:2] for folder in cases} == {number for number, *_ in ROWS}
    assert all((folder / "expected.md").exists() for folder in cases)


@pytest.mark.parametrize(("number", "statement", "file", "name"), ROWS)
def test_every_test_that_is_named_exists(number: str, statement: str, file: str, name: str) -> None:
    (path,) = (ROOT / "tests").glob(f"*/{file}")
    assert f"def {name}(" in path.read_text(), f"case {number}: {statement}"
