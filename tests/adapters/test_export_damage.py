"""Whatever stands in an export, it costs at most its own conversation, is counted, and changes no other.

One property for every reader: any place null, missing, of another type, or a copy of another place.
"""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.contract import PermanentSourceError
from tests.support import ai_google, ai_others
from tests.support.ai_exports import as_json, assert_conserved, broken, heard, ids, read, rejected, skipped
from tests.support.ai_samples import READERS, SAMPLES, VARIANTS


def _activity(number: int) -> dict:
    return ai_google.activity(f"Prompted question {number}", f"2026-03-09T17:1{number}:00.000Z", f"<p>{number}</p>")


# Files of many conversations: the reader, what makes the n-th, and how they stand in a file.
MANY: dict[str, tuple[str, Any, Any]] = {
    "Gemini activity": ("Gemini activity", _activity, list),
    "Gemini conversations": ("Gemini conversation", lambda n: ai_google.gemini_conversation(f"g-{n}"), list),
    "Gemini sessions": ("Gemini conversation", lambda n: ai_google.gemini_session(f"s-{n}"), list),
    "Grok": ("Grok export", lambda n: ai_others.grok_conversation(f"gk-{n}"), lambda all_: ai_others.grok(*all_)),
    "Perplexity": (
        "Perplexity export",
        lambda n: ai_others.perplexity_official(f"px-{n}"),
        lambda all_: {"conversations": all_},
    ),
    "DeepSeek": ("DeepSeek export", lambda n: ai_others.deepseek(f"ds-{n}"), list),
    "Open WebUI": ("Open WebUI export", lambda n: ai_others.open_webui(f"ow-{n}"), list),
}

# Files of one conversation: the reader, the file, and where its messages stand.
SINGLE: dict[str, tuple[str, Any, tuple[Any, ...]]] = {
    "Workspace": ("Gemini in Workspace conversation", ai_google.workspace(), ("conversation_turns",)),
    "AI Studio": ("AI Studio prompt", ai_google.ai_studio(), ("chunkedPrompt", "chunks")),
    "Perplexity thread": ("Perplexity thread", ai_others.perplexity_thread(), ("conversations",)),
    "Perplexity entries": ("Perplexity thread", ai_others.perplexity_entries(), ("entries",)),
    "Meta AI": ("Meta AI thread", ai_others.meta(), ("messages",)),
    "Le Chat": ("Le Chat export", ai_others.le_chat(), ()),
    "LibreChat": ("LibreChat export", ai_others.libre_chat(), ("messages",)),
    "LM Studio": ("LM Studio conversation", ai_others.lm_studio(), ("messages",)),
    "Clipper": ("AI Chat Clipper clip", ai_others.clip(), ("messages",)),
}

relaxed = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)


@relaxed
@given(st.sampled_from(sorted(MANY)), st.data())
def test_damage_costs_at_most_its_own_conversation(kind: str, data) -> None:
    name, make, pack = MANY[kind]
    whole = [make(number) for number in (1, 2, 3)]
    good = read(READERS[name], as_json(pack([whole[0], whole[2]])))
    damaged = [whole[0], data.draw(broken(whole[1])), whole[2]]
    elements = read(READERS[name], as_json(pack(damaged)))
    others = {event.id: event for event in heard(elements)}
    for event in heard(good):
        assert others[event.id] == event
    assert len(elements) > len(good)
    assert_conserved(elements)
    assert ids(elements) == ids(read(READERS[name], as_json(pack(damaged)), "another name.json"))


@relaxed
@given(st.sampled_from(sorted(SINGLE)), st.data())
def test_damage_to_one_message_costs_at_most_that_message(kind: str, data) -> None:
    """Events of the other messages keep their ids; of a chat known by its first message only later ones are broken."""
    name, value, place = SINGLE[kind]
    value = json.loads(json.dumps(value))
    messages = value
    for step in place:
        messages = messages[step]
    number = data.draw(st.integers(1 if kind == "AI Studio" else 0, len(messages) - 1)) if len(messages) > 1 else 0
    others = messages[:number] + messages[number + 1 :]
    changed = data.draw(broken(messages[number]))
    kept, messages[:] = list(messages), others
    expected = set(ids(read(READERS[name], as_json(value)))) if others else set()
    kept[number] = changed
    messages[:] = kept
    elements = read(READERS[name], as_json(value))
    assert expected <= set(ids(elements))
    assert_conserved(elements)


@relaxed
@given(st.sampled_from(sorted(SINGLE)), st.data())
def test_damage_anywhere_is_told_and_never_raises(kind: str, data) -> None:
    name, value, _ = SINGLE[kind]
    raw = as_json(data.draw(broken(value)))
    try:
        elements = read(READERS[name], raw)
    except PermanentSourceError:  # no object any more, or a clip of another version
        return
    assert heard(elements) or rejected(elements) or skipped(elements)
    assert_conserved(elements)
    assert ids(elements) == ids(read(READERS[name], raw, "input.json"))


ALL = [(reader, raw) for reader, (_, raw) in SAMPLES.items()] + list(VARIANTS.values())


@relaxed
@given(st.sampled_from(ALL), st.data())
def test_bytes_changed_anywhere_never_raise(case: tuple[str, bytes], data) -> None:
    """A file cut short, or with bytes overwritten, gives what is left and names what is not."""
    name, raw = case
    start = data.draw(st.integers(0, len(raw)))
    middle = data.draw(st.binary(max_size=8))
    end = data.draw(st.sampled_from([start, start + len(middle), len(raw)]))
    changed = raw[:start] + middle + raw[end:]
    try:
        elements = read(READERS[name], changed)
    except PermanentSourceError:
        return
    assert_conserved(elements)


@pytest.mark.parametrize("kind", MANY)
def test_what_cannot_be_decoded_costs_itself(kind: str) -> None:
    name, make, pack = MANY[kind]
    good = as_json(pack([make(1), "HERE", make(3)]))
    elements = read(READERS[name], good.replace(b'"HERE"', b'{"id": nope}'))
    assert len(rejected(elements)) == 1
    assert set(ids(read(READERS[name], as_json(pack([make(1), make(3)]))))) == set(ids(elements))


@pytest.mark.parametrize("kind", MANY)
def test_a_grown_export_keeps_every_id(kind: str) -> None:
    name, make, pack = MANY[kind]
    before = ids(read(READERS[name], as_json(pack([make(1), make(2)]))))
    after = ids(read(READERS[name], as_json(pack([make(3), make(1), make(2)]))))
    assert set(before) < set(after)


@pytest.mark.parametrize("kind", SINGLE)
def test_a_grown_conversation_keeps_every_id(kind: str) -> None:
    name, value, place = SINGLE[kind]
    value = json.loads(json.dumps(value))
    messages = value
    for step in place:
        messages = messages[step]
    after = ids(read(READERS[name], as_json(value)))
    if len(messages) > 1:
        del messages[-1]
    before = ids(read(READERS[name], as_json(value)))
    assert set(before) <= set(after)
