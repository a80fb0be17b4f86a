"""Each export is taken by exactly one reader, by its shape: whatever its name, and however its first bytes are cut."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.catalogue import load
from adapters.contract import FileHead
from tests.support.ai_samples import SAMPLES, VARIANTS

READERS = load().readers
MINE = [reader for reader in READERS if reader.name in SAMPLES]
CASES = {
    **{name: (name, path, raw) for name, (path, raw) in SAMPLES.items()},
    **{name: (reader, "input.bin", raw) for name, (reader, raw) in VARIANTS.items()},
}
BY_NAME = {"Gemini Gems or scheduled actions"}
"""A stub of eleven bytes has no shape; only here the name decides."""


def takers(raw: bytes, name: str = "input.bin") -> list[str]:
    head = FileHead(Path(name), raw[: 64 * 1024], len(raw))
    return [reader.name for reader in READERS if reader.recognises(head)]


@pytest.mark.parametrize("case", CASES)
def test_exactly_one_reader_takes_it(case: str) -> None:
    reader, path, raw = CASES[case]
    assert takers(raw, path) == [reader]


@pytest.mark.parametrize("case", [case for case in CASES if case not in BY_NAME])
def test_the_name_of_the_file_means_nothing(case: str) -> None:
    """Safari saves members as `.dms`, people rename files."""
    reader, _, raw = CASES[case]
    assert takers(raw, "conversations.dms") == [reader]


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"hello", b"{", b"[", b"[]", b"{}", b"[[[[", b"null", b"\x00\xff", b"[" * 100_000, b'{"a":' * 10_000,
        b"a,b,c\n1,2,3\n", b"<html><body>hello</body></html>", b'{"messages": []}', b'{"conversations": []}',
        b'{"user": {"email": "x@example.test"}}', b'{"credits": 0}', b"PK\x03\x04" + bytes(100),
        b'[{"title": "x", "time": "y"}]', b'[{"mapping": {}, "title": "x"}]', b'[{"chat_messages": [], "uuid": "u"}]',
    ],
)  # fmt: skip
def test_other_files_are_taken_by_none_of_these(raw: bytes) -> None:
    assert not {reader.name for reader in MINE} & set(takers(raw))


@given(st.sampled_from(sorted(CASES)), st.data())
def test_a_head_cut_anywhere_is_never_taken_by_another(case: str, data) -> None:
    reader, path, raw = CASES[case]
    cut = data.draw(st.integers(0, len(raw)))
    assert set(takers(raw[:cut], path)) <= {reader, *_SAME_BEGINNING.get(reader, ())}


# Until the part that tells them apart has been seen, these begin alike.
_SAME_BEGINNING = {
    "Google activity without Gemini": ("Gemini activity",),
    "Gemini activity": ("Google activity without Gemini",),
    "Gemini activity page": ("Google activity page without Gemini",),
    "Google activity page without Gemini": ("Gemini activity page",),
    "Meta AI thread": ("Messenger thread between people",),
}


def test_no_more_readers_are_imported_than_are_asked() -> None:
    """All of them take longer to import than a usual file to read."""
    head = b'[{"title": "a", "create_time": 1.0, "mapping": {"x": {"message": null}}, "current_node": "x"}]'
    program = (
        "import sys; from pathlib import Path\n"
        "from adapters.catalogue import load; from adapters.contract import FileHead\n"
        f"readers = load(); head = {head!r}; print(readers.ask(FileHead(Path('x'), head, len(head))).name)\n"
        "print(sorted(name for name in sys.modules if 'exports.whatsapp' in name or 'exports.gemini' in name))\n"
        "print(len(readers.readers), len(list(readers.readers)), readers.readers[-1].name, len(readers.readers[1:3]))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    name, modules, counted = done.stdout.splitlines()
    assert (name, modules) == ("ChatGPT export", "[]")
    assert counted == f"{len(READERS)} {len(READERS)} {READERS[-1].name} 2"


@given(st.binary(max_size=400))
def test_recognising_never_raises(raw: bytes) -> None:
    assert isinstance(takers(raw), list)
