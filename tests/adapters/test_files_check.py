"""`sources check` says of folders what is there, what is missing, and what cannot be read; it opens no session file."""

import os

from adapters.files.check import MAX_NAMED, drop_findings, tail_findings
from adapters.files.discover import Discovery

NOW = 2_000_000_000.0


def levels(findings) -> list[str]:
    return [finding.level for finding in findings]


def test_files_are_counted_with_their_size_and_age(tmp_path):
    for number in range(3):
        path = tmp_path / f"{number}.jsonl"
        path.write_bytes(b"x" * 1024 * 1024)
        os.utime(path, (NOW - 3 * 86_400,) * 2)
    (finding,) = tail_findings(Discovery([tmp_path]), NOW)
    assert finding.what == "3 session files, 3.0 MiB; the newest was last changed 3 days ago"


def test_a_folder_that_is_not_there_may_come_later(tmp_path):
    (missing,) = tail_findings(Discovery([tmp_path / "none"]), NOW)
    assert missing.level == "warning"
    assert "none is not there" in missing.what
    assert levels(tail_findings(Discovery([tmp_path / "none", tmp_path]), NOW)) == ["warning"]


def test_an_empty_folder_is_no_fault(tmp_path):
    assert tail_findings(Discovery([tmp_path]), NOW)[0].what == "no session files yet"


def test_what_cannot_be_followed_is_named_and_the_rest_counted(tmp_path):
    for number in range(MAX_NAMED + 2):
        os.mkfifo(tmp_path / f"{number}.jsonl")
    findings = tail_findings(Discovery([tmp_path]), NOW)
    assert levels(findings) == ["ok", *["problem"] * (MAX_NAMED + 1)]
    assert "is no regular file" in findings[1].what
    assert findings[-1].what == "and 2 more such places"


def test_a_name_cannot_write_to_a_terminal(tmp_path):
    os.mkfifo(tmp_path / "\x1b[31mred.jsonl")
    assert "\x1b" not in tail_findings(Discovery([tmp_path]), NOW)[-1].what


def test_a_drop_folder_is_ready_or_can_be_made(tmp_path):
    assert levels(drop_findings(tmp_path / "a" / "b")) == ["ok"]
    (tmp_path / "export.zip").write_bytes(b"")
    (tmp_path / ".hidden").write_bytes(b"")
    assert drop_findings(tmp_path)[0].what.endswith("is ready; 1 files wait in it")


def test_a_drop_folder_that_is_a_file_is_a_problem(tmp_path):
    (tmp_path / "drop").write_text("")
    assert levels(drop_findings(tmp_path / "drop")) == ["problem"]
