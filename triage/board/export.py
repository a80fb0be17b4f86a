"""Decisions and proposals as JSON: what `--json` prints, and the lines of an exported history.

A history that was exported reads back as the same decisions (`history_from`), so that it can be replayed and audited
without the store. Members are in camel case; a task's document stands in it as the board has it.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from triage.board.documents import iso_of
from triage.board.model import Application, Decision, Evidence, Proposal
from triage.board.packet import Packet

_TIME: Final = "_ms"


def proposal_json(proposal: Proposal) -> dict[str, Any]:
    """Give a proposal as JSON; times also as ISO, so that nobody has to reckon."""
    return {**_camel(msgspec.to_builtins(proposal)), "evidence": [evidence_json(one) for one in proposal.evidence]}


def evidence_json(evidence: Evidence) -> dict[str, Any]:
    """Give a piece of evidence as JSON."""
    return _camel(msgspec.to_builtins(evidence))


def packet_json(packet: Packet) -> dict[str, Any]:
    """Give a decision packet as JSON."""
    return _camel(msgspec.to_builtins(packet))


def decision_json(decision: Decision, application: Application | None) -> dict[str, Any]:
    """Give a decision as JSON, with what came of it on the board's file."""
    value = _camel(msgspec.to_builtins(decision))
    if application is not None:
        value["application"] = _camel(msgspec.to_builtins(application))
    return value


def history_line(decision: Decision, application: Application | None) -> bytes:
    """Give one line of JSONL, with its line end."""
    return msgspec.json.encode(decision_json(decision, application)) + b"\n"


def history_from(lines: Iterable[bytes]) -> Iterator[tuple[Decision, Application | None]]:
    """Read exported lines; raises `msgspec.DecodeError` for one that is none."""
    for line in lines:
        value = msgspec.json.decode(line, type=dict[str, Any])
        application = value.pop("application", None)
        decision = msgspec.convert(_snake(value), Decision)
        yield decision, msgspec.convert(_snake(application), Application) if application else None


def _camel(value: Mapping[str, Any]) -> dict[str, Any]:
    """Rename members; documents of tasks and verifications, further in, are somebody else's."""
    renamed: dict[str, Any] = {}
    for name, member in value.items():
        if name.endswith(_TIME):
            renamed[_camel_name(name.removesuffix(_TIME)) + "Iso"] = None if member is None else iso_of(member)
        renamed[_camel_name(name)] = member
    return renamed


def _snake(value: Mapping[str, Any]) -> dict[str, Any]:
    return {_snake_name(name): member for name, member in value.items() if not _is_iso(name, value)}


def _is_iso(name: str, value: Mapping[str, Any]) -> bool:
    return name.endswith("Iso") and name.removesuffix("Iso") + "Ms" in value


def _camel_name(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(other.title() for other in others)


def _snake_name(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
