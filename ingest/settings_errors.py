"""Settings mistakes in words: where, which key, what is allowed. No validator's own language reaches a person."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from ingest.settings_tree import Node, below, holds_secrets, section_at

_WRONG_TYPE: Final = {
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "string_type": "a text",
    "list_type": "a list",
    "path_type": "a path",
    "model_type": "a section",
    "model_attributes_type": "a section",
    "dict_type": "a section",
    "json_invalid": 'a list such as ["/a", "/b"]',
}


class SettingsError(Exception):
    """Settings that cannot be used; `lines` says each mistake in one line."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__("\n".join(lines))
        self.lines = list(lines)


def explain(
    error: ValidationError, model: type[BaseModel], path: Path, prefix: str, environment: Mapping[str, str]
) -> list[str]:
    """One line a mistake, in order, each once."""
    lines = [_line(dict(detail), model, path, prefix, environment) for detail in error.errors(include_url=False)]
    return list(dict.fromkeys(lines))


def unknown_variables(model: type[BaseModel], prefix: str, environment: Mapping[str, str]) -> list[str]:
    """One line for each variable with our prefix that names no setting."""
    fixed = {_variable_of(key, prefix) for key in keys(model)}
    lines = []
    for name in environment:
        if name.upper().startswith(prefix):
            known = fixed | _in_same_section(name.upper(), model, prefix)
            if name.upper() not in known:
                lines.append(f"{name}: there is no such setting{_closest(name.upper(), known)}")
    return lines


def _in_same_section(name: str, model: type[BaseModel], prefix: str) -> set[str]:
    """The variables beside one that is in a section a person has named, such as `sources.custom.NAME`."""
    above = name.removeprefix(prefix).lower().split("__")[:-1]
    section = section_at(model, above)
    return {_variable_of([*above, field], prefix) for field in section.model_fields} if section else set()


def _variable_of(key: Sequence[str], prefix: str) -> str:
    return prefix + "__".join(key).upper()


def keys(model: type[BaseModel], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every key of a setting, sections opened: `("http", "port")`."""
    for name, member in model.model_fields.items():
        inner = member.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from keys(inner, (*above, name))
        else:
            yield (*above, name)


def _line(
    detail: dict[str, Any], model: type[BaseModel], path: Path, prefix: str, environment: Mapping[str, str]
) -> str:
    key = _key(detail["loc"], model)
    where = _variable(key, prefix, environment) or f"{path}: {'.'.join(key)}"
    if detail["type"] == "extra_forbidden":
        section = section_at(model, key[:-1]) or model
        names = section.model_fields
        return f"{where}: there is no such setting; here are: {', '.join(names)}{_closest(key[-1], names)}"
    shown = "; its value is a secret and not shown" if holds_secrets(model, key) else f", not {_shown(detail['input'])}"
    return f"{where}: must be {_allowed(detail)}{shown}"


def _key(loc: tuple[int | str, ...], model: type[BaseModel]) -> tuple[str, ...]:
    """The part of a location that a person wrote: union members and list positions are left out."""
    key: list[str] = []
    node: Node | None = model
    for part in loc:
        if node is None or not isinstance(part, str) or part == "[key]":
            break
        key.append(part)
        node = below(node, part)
    return tuple(key)


def _variable(key: tuple[str, ...], prefix: str, environment: Mapping[str, str]) -> str | None:
    wanted = _variable_of(key, prefix)
    return next((name for name in environment if name.upper() == wanted), None)


def _allowed(detail: dict[str, Any]) -> str:
    """What would be right, from the kind of mistake."""
    context = detail.get("ctx", {})
    match detail["type"]:
        case "literal_error":
            return f"one of {context['expected']}"
        case "value_error":
            return str(context["error"])
        case "greater_than_equal":
            return f"at least {context['ge']}"
        case "less_than_equal":
            return f"at most {context['le']}"
        case "string_too_short":
            return "not empty"
        case kind:
            return _WRONG_TYPE.get(kind, str(detail["msg"]))


def _shown(value: object) -> str:
    text = repr(value)
    limit = 60
    return text if len(text) <= limit else text[:limit] + "…"


def _closest(name: str, known: object) -> str:
    names = [str(each) for each in known] if isinstance(known, set | dict) else []
    near = difflib.get_close_matches(name, names, n=1)
    return f" (did you mean {near[0]}?)" if near else ""
