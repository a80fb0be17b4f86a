"""Promise: what a summary leaves open is found, under any heading, in English and Portuguese (1.4, E49)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.processors.headings import MAX_ITEMS, SummaryItems, summary_items

PI_SUMMARY = """## Goal
mend the weir

## Progress
### Done
- [x] found the leak
### In Progress
- [ ] patch the sluice
- [x] measured it
### Blocked
- [ ] the key is with Rui

## Key Decisions
- **oak**: lasts longer

## Next Steps
1. fetch the key
2) patch
   - with oak
* Fetch the key
"""


def test_the_sections_of_pis_own_summary_are_told_apart() -> None:
    assert summary_items(PI_SUMMARY) == SummaryItems(
        next_steps=["fetch the key", "patch", "with oak"],
        in_progress=["patch the sluice"],
        blocked=["the key is with Rui"],
    )


@pytest.mark.parametrize(
    "heading",
    [
        "# Next Steps",
        "###### next steps",
        "## Next Steps:",
        "## **Next Steps**",
        "**Next Steps**",
        "**Next steps:**",
        "Next steps:",
        "## 3. Next Steps",
        "## 🚀 Next Steps",
        "## Próximos passos",
        "### PRÓXIMOS PASSOS:",
        "**Próximas etapas**",
    ],
)
def test_a_heading_of_any_form_is_known(heading: str) -> None:
    assert summary_items(f"{heading}\n- one\n") == SummaryItems(next_steps=["one"])


@pytest.mark.parametrize(
    ("heading", "items"),
    [
        ("## Em andamento", SummaryItems(in_progress=["one"])),
        ("## Em progresso", SummaryItems(in_progress=["one"])),
        ("## Bloqueados", SummaryItems(blocked=["one"])),
        ("## Bloqueios:", SummaryItems(blocked=["one"])),
        ("## Blockers", SummaryItems(blocked=["one"])),
        ("## Done", SummaryItems()),
        ("## Not Next Steps", SummaryItems()),
        ("####### Next Steps", SummaryItems()),
    ],
)
def test_each_title_has_its_section(heading: str, items: SummaryItems) -> None:
    assert summary_items(f"{heading}\n- one\n") == items


@pytest.mark.parametrize("bullet", ["-", "*", "+", "•", "1.", "12)", "- [ ]", "  -", "\t*"])
def test_a_bullet_of_any_form_is_an_item(bullet: str) -> None:
    assert summary_items(f"## Blocked\n{bullet} one") == SummaryItems(blocked=["one"])


@pytest.mark.parametrize(
    "nothing",
    ["(none)", "None", "none.", "Nenhum", "nenhuma", "N/A", "n/a", "—", "*(none)*", "`none`", "[ ]", "[x] done"],
)
def test_nothing_and_what_is_done_are_no_items(nothing: str) -> None:
    assert not summary_items(f"## Next Steps\n- {nothing}\n")


def test_a_section_ends_at_a_heading_of_its_level_or_a_higher_one() -> None:
    text = "### Next Steps\n- a\n#### detail\n- b\n### Other\n- c\n"
    assert summary_items(text).next_steps == ["a", "b"]
    assert summary_items("### Next Steps\n- a\n# Other\n- c\n").next_steps == ["a"]


def test_words_between_bullets_and_fences_are_no_items() -> None:
    assert summary_items("## Next Steps\nfirst\n```\n- code\n```\n- a\n").next_steps == ["a"]


def test_only_what_stands_in_summary_tags_counts_where_there_are_tags() -> None:
    text = "## Next Steps\n- outside\n<SUMMARY>\n## Next Steps\n- inside\n</summary>\n- behind"
    assert summary_items(text).next_steps == ["inside"]


def test_items_are_bounded() -> None:
    items = summary_items("## Blocked\n" + "".join(f"- {n} {'x' * 1000}\n" for n in range(1000))).blocked
    assert len(items) == MAX_ITEMS
    assert max(map(len, items)) <= 300


@pytest.mark.parametrize("piece", ["<summary>", "</summary><summary>", "## Next Steps\n", "**", "- [", "# ", "a b:"])
def test_a_megabyte_of_one_piece_is_read(piece: str) -> None:
    assert isinstance(summary_items(piece * (1_000_000 // len(piece))), SummaryItems)


@given(st.text(st.sampled_from("#-*[x] \nNextSps:1.<sumary>/`"), max_size=200))
def test_items_are_unique_whatever_their_case(text: str) -> None:
    items = summary_items("## Next Steps\n" + text).next_steps
    assert len({item.lower() for item in items}) == len(items)
