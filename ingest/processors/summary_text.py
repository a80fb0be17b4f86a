"""The words of an idle thread's summary: who, when, first ask, last state, open items, references.

Markdown whose headings `headings.summary_items` reads again. What people and machines said stands quoted on one line
each, so that no word of theirs becomes a heading of ours.
"""

from ingest.processors.text import shorten
from ingest.processors.threads import MAX_WORDS, ThreadState


def summary_text(state: ThreadState) -> str:
    """Compose the summary of a thread."""
    lines = [f"## Idle: {state.title or state.first_ask[:80] or state.source.thread_id[:80]}", ""]
    lines += [f"- Who: {', '.join(state.speakers)}"] if state.speakers else []
    lines += [f"- When: {_when(state)}", f"- Where: {_where(state)}", f"- What: {_amounts(state)}"]
    lines += _quoted("First ask", state.first_ask)
    lines += _last_state(state)
    lines += _bullets("Next Steps", state.items.next_steps)
    lines += _bullets("In Progress", state.items.in_progress)
    lines += _bullets("Blocked", state.items.blocked)
    lines += _bullets("References", [*state.refs.task_ids, *state.refs.issue_ids, *state.refs.run_ids])
    return "\n".join(lines)


def _when(state: ThreadState) -> str:
    first, last = _minute(state.first_iso), _minute(state.last_iso)
    return f"{first} UTC" if first == last else f"{first} to {last} UTC"


def _minute(iso: str) -> str:
    return iso[:16].replace("T", " ")


def _where(state: ThreadState) -> str:
    source = state.source
    place = source.workspace or source.channel_id
    return f"{source.provider_account_key}, {place}" if place else source.provider_account_key


def _amounts(state: ThreadState) -> str:
    parts = [(state.messages, "message"), (state.tool_calls, "tool call"), (state.summaries, "summary")]
    named = [f"{count} {_plural(word) if count > 1 else word}" for count, word in parts if count]
    return ", ".join(named) or "status only"


def _plural(word: str) -> str:
    return "summaries" if word == "summary" else f"{word}s"


def _quoted(heading: str, words: str) -> list[str]:
    return ["", f"### {heading}", f"> {words}"] if words else []


def _last_state(state: ThreadState) -> list[str]:
    words = shorten(state.last_words, MAX_WORDS)
    lines = _quoted("Last state", f"{state.last_role}: {words}" if words else "")
    if state.last_state:
        lines = [*(lines or ["", "### Last state"]), f"> {state.last_state}"]
    if state.asks:
        lines.append("\nThe last words are a question that nobody answered.")
    return lines


def _bullets(heading: str, items: list[str]) -> list[str]:
    return ["", f"### {heading}", *(f"- {item}" for item in items)] if items else []
