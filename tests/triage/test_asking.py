"""What a text asks of its reader is told from what merely sounds like it, in five languages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.report.asking import MAX_LOOKED_AT, ask_tool, find_ask
from triage.report.words import MAX_QUOTE

APPROVALS = [
    "Shall I proceed?",
    "The migration drops a column.\n\nShall I run it?",
    "Should I delete the old table, or keep it?",
    "Want me to commit?",
    "Would you like me to push the branch?",
    "Is it ok if I drop the index?",
    "Ready to merge?",
    "**May I restart the mill?**",
    "Please confirm the plan.",
    "I am waiting for your approval.",
    "This needs your decision before I go on.",
    "Approval required: deploy to production",
    "Deploy now? [y/N]",
    "Let me know whether to merge.",
    "Reply 'yes' to go on.",
    "Posso apagar a tabela antiga?",
    "Quer que eu continue?",
    "Aguardo a sua confirmação para continuar.",
    "Por favor, confirme o plano.",
    "¿Quieres que siga?",
    "¿Puedo borrar la tabla?",
    "Quedo a la espera de tu confirmación.",
    "Por favor, confirma el plan.",
    "Soll ich fortfahren?",
    "Ich warte auf deine Freigabe.",
    "Bitte bestätige den Plan.",
    "Darf ich die Tabelle löschen?",
    "Dois-je supprimer la table ?",
    "Voulez-vous que je continue ?",
    "J'attends votre validation.",
    "Veuillez confirmer le plan.",
]

QUESTIONS = [
    "Which port does the mill listen on?",
    "Before I start:\n\n1. Which database?\n2. Which port?",
    "Which one do you prefer?\n\n- the old wheel\n- the new wheel\n\nThanks!",
    "Can you send me the reed list by Friday?\n\nBest regards,\nAna",
    "I found two keys. Which is yours? 🗝️",
    "Who owns `gate?.lock` here?",
    "水车什么时候修好\uff1f",
    "Qual é a porta?",
    "¿Cuál es el puerto?",
    "Welcher Port ist es?",
    "Quel est le port ?",
    "What would you like me to do with the old table?",
    "Which one? I recommend the second.",
]

NOTHING = [
    "",
    "Done. All tests pass.",
    "???",
    "Anything else?",
    "Done! Is there anything else I can help with?",
    "Let me know if you need anything.",
    "All merged. Let me know if you have any questions!",
    "How can I help you today?",
    "Hello! What would you like to work on next?",
    "Does that make sense?",
    "Feel free to ask.",
    "Mais alguma coisa?",
    "Posso ajudar em algo mais?",
    "¿Algo más?",
    "¿En qué puedo ayudarte?",
    "Kann ich sonst noch etwas tun? Noch etwas?",
    "Womit kann ich dir helfen?",
    "Puis-je vous aider ?",
    "N'hésitez pas !",
    "Why did it fail? Because the port was taken.",
    "So what was it? The cause was a stale lock.",
    "No need to wait for your approval.",
    "I did not wait for your confirmation.",
    "```\nShall I proceed?\n```\nDone.",
    "Done.\n```\nshall I?",
    "> Shall I proceed?\n\nYou said so, and it is done.",
    "It prints `Continue? [y/N]` and stops there.",
    "See https://example.org/?q=a for more.",
    "Is the key there?\n\nIt is. I opened the gate and went on.",
    "I should proceed with care.",
    "if (a ? b : c) was the bug.",
]


@pytest.mark.parametrize("text", APPROVALS)
def test_asks_for_leave(text: str) -> None:
    ask = find_ask(text)
    assert ask is not None
    assert ask.kind == "approval"


@pytest.mark.parametrize("text", QUESTIONS)
def test_asks_a_question(text: str) -> None:
    ask = find_ask(text)
    assert ask is not None
    assert ask.kind == "question"


@pytest.mark.parametrize("text", NOTHING)
def test_asks_nothing(text: str) -> None:
    assert find_ask(text) is None


def test_quotes_the_asking_sentence_with_what_it_is_about() -> None:
    """A short ask says nothing alone."""
    ask = find_ask("Long tale. It goes on.\n\nThe migration drops `mill.width`.\n\nShall I run it?")
    assert ask is not None
    assert ask.words == "The migration drops `mill.width`. Shall I run it?"


def test_quotes_code_and_addresses_as_written() -> None:
    """What is masked for reading comes back for quoting."""
    ask = find_ask("May I open https://example.org/?a=b and run `x?.y` on all of the machines of the mill?")
    assert ask is not None
    assert ask.words == "May I open https://example.org/?a=b and run `x?.y` on all of the machines of the mill?"


def test_several_questions_are_quoted_together() -> None:
    ask = find_ask("1. Which database do we use for the mill?\n2. Which port does it have?")
    assert ask is not None
    assert ask.words == "Which database do we use for the mill? Which port does it have?"


def test_fence_opened_long_before_the_end_stays_closed() -> None:
    """The end of a long text is looked at without the code that begins before it."""
    assert find_ask("```\n" + "x = 1\n" * MAX_LOOKED_AT + "shall I?\n```\nDone.") is None
    assert find_ask("```\n" + "x = 1\n" * MAX_LOOKED_AT + "```\nShall I?") is not None


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("ask_user", "question"),
        ("AskUserQuestion", "question"),
        ("mcp__desk__ask-human", "question"),
        ("request_user_input", "question"),
        ("ExitPlanMode", "approval"),
        ("request_approval", "approval"),
        ("bash", None),
        ("task", None),
        ("", None),
    ],
)
def test_tools_that_ask(name: str, kind: str | None) -> None:
    assert ask_tool(name) == kind


@given(st.text(max_size=400) | st.text(alphabet="a.?!`\n>-* 1)[]yn/", max_size=2000))
def test_any_text_is_read(text: str) -> None:
    """No text raises, and what is quoted is short, clean and on one line."""
    ask = find_ask(text)
    if ask is not None:
        assert 0 < len(ask.words) <= MAX_QUOTE
        assert "\n" not in ask.words


@pytest.mark.parametrize("piece", ["?", "`", ">", "a? ", "thanks ", "no ", "\n\n", "1. ", "<summary>", "(", "https://"])
def test_repeated_pieces_stay_cheap(piece: str) -> None:
    """Nothing in the rules costs more than its text; a quadratic one would run into the time-out of the tests."""
    assert find_ask(piece * 200_000 + " Shall I?") is not None or piece in {">", "`", "thanks ", "no ", "("}
