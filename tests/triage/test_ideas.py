"""Ideas become proposals with the origin's ids, and nothing more."""

import pytest

from tests.support.triage import Home, canonical, jsonl
from triage.report.ideas import idea_id, ideas_in


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("- idea: sort the reeds", "sort the reeds"),
        ("* IDEIA - cortar", "cortar"),
        ("- [ ] 💡 idea: mill at night", "mill at night"),
        ("# inbox: a second wheel", "a second wheel"),
        ("idea: plain", "plain"),
        ("ideia \u2013 pintar", "pintar"),
        ("> [!idea] `call` it **x**", "call it x"),
        ("> [!IDEA]\nnext line", "next line"),
        ("an idea: not at the start", None),
        ("- ideal: no", None),
        ("- idea:", None),
        ("- idea: ***", None),
    ],
)
def test_lines(line: str, title: str | None) -> None:
    found = list(ideas_in(f"intro\n{line}\nend", "markdown", "/n.md"))
    assert [idea.title for idea in found] == ([] if title is None else [title])
    if found:
        assert found[0].source.line == 2


def test_id_is_the_origins_hash() -> None:
    """Worked by hand from the rule: 5381 for nothing; one character is 5381 x 33 xor its code; case does not matter."""
    assert idea_id("") == "IDEA-45H"
    assert int(idea_id("a").removeprefix("IDEA-"), 36) == 5381 * 33 ^ ord("a")
    assert int(idea_id("\U0001f41c").removeprefix("IDEA-"), 36) == 5381 * 33 ^ 0xD83D
    assert idea_id("Cut  the\tReeds") == idea_id(" cut the reeds ")
    assert int(idea_id("long " * 99).removeprefix("IDEA-"), 36) < 2**32


def test_inbox_of_files_folders_and_events(home: Home) -> None:
    """Repeatable, both names; folders are not searched below; a title counts once; all gates stay closed."""
    note = home.file("note.md", b"\xef\xbb\xbf- idea: one\r\n- idea: two\r\n")
    folder = home.file("notes/a.markdown", b"- inbox: three\n").parent
    home.file("notes/deeper/b.md", b"- idea: hidden\n")
    home.file("notes/c.txt", b"- idea: no note\n")
    events = home.file("e.jsonl", jsonl([canonical("- idea: ONE"), canonical("- idea: four")]))
    report = home.run("--json", "--ideas", note, "--idea-inbox", folder, "--events", events).report
    box = report["ideaInbox"]
    assert {p["title"] for p in box["proposals"]} == {"one", "two", "three", "four"}
    assert box["proposalCount"] == 4
    assert box["reviewRequired"] is True
    assert report["sources"]["ideaInbox"] == [str(note), str(folder)]
    for proposal in box["proposals"]:
        assert proposal["taskDraft"]["status"] == "planned"
        assert set(proposal["decisionGate"].values()) == {True}
        assert len(proposal["decisionGate"]) == 3
    from_note = next(p for p in box["proposals"] if p["title"] == "two")
    assert from_note["source"] == {"kind": "markdown", "ref": str(note), "line": 2}
    assert from_note["id"] == idea_id(f"markdown:{note}:two")
    from_event = next(p for p in box["proposals"] if p["title"] == "four")
    assert from_event["source"]["ref"] == "canonical:e.jsonl:pi"


def test_source_that_is_no_note_is_told(home: Home) -> None:
    outcome = home.run("--json", "--ideas", home.file("note.txt", b"- idea: x"))
    assert outcome.status == 0
    assert [p["reason"] for p in outcome.report["problems"]] == ["not-a-note"]
