"""Walking the tree of settings: sections, and tables of sections that a person names."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args, get_origin

from pydantic import BaseModel, SecretStr


@dataclass(frozen=True, slots=True)
class NamedSections:
    """A table in which every key is a name and every value the same kind of section."""

    section: type[BaseModel]


Node = type[BaseModel] | NamedSections


def below(node: Node, part: str) -> Node | None:
    """What stands under one part of a key; None when that is a plain setting, or nothing."""
    if isinstance(node, NamedSections):
        return node.section
    return _node(node.model_fields[part].annotation) if part in node.model_fields else None


def section_at(model: type[BaseModel], key: Sequence[str]) -> type[BaseModel] | None:
    """The section that a whole key names, if it names one."""
    node = _walk(model, key)
    return None if isinstance(node, NamedSections) else node


def holds_secrets(model: type[BaseModel], key: Sequence[str]) -> bool:
    """Whether what is written at a key may be, or contain, a secret: then no message shows it."""
    if not key:
        return False
    above = _walk(model, key[:-1])
    if above is None or isinstance(above, NamedSections) or isinstance(_walk(model, key), NamedSections):
        return True
    field = above.model_fields.get(key[-1])
    return field is not None and _mentions(field.annotation, SecretStr)


def _walk(model: type[BaseModel], key: Sequence[str]) -> Node | None:
    node: Node | None = model
    for part in key:
        if node is None:
            return None
        node = below(node, part)
    return node


def _node(annotation: Any) -> Node | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    arguments = get_args(annotation)
    inner = arguments[-1] if get_origin(annotation) is dict else None
    return NamedSections(inner) if isinstance(inner, type) and issubclass(inner, BaseModel) else None


def _mentions(annotation: Any, wanted: type) -> bool:
    return annotation is wanted or any(_mentions(part, wanted) for part in get_args(annotation))
