"""The published JSON Schemas: generated from the types, checked in under `schemas/published/`.

`python -m schemas.publish` writes them anew; a test fails when they are not current.
"""

from pathlib import Path
from typing import Any, Final

import msgspec

from schemas.captured import CapturedRecord, RejectedRecord
from schemas.event import CanonicalEvent
from schemas.report import ImportReport

FOLDER: Final = Path(__file__).parent / "published"

NAMES: Final[dict[str, type[msgspec.Struct]]] = {
    "canonical-event": CanonicalEvent,
    "captured-record": CapturedRecord,
    "rejected-record": RejectedRecord,
    "import-report": ImportReport,
}
"""The name of each schema, as `session-ingest schema NAME` takes it, and the type it is generated from."""


def json_schema(name: str) -> dict[str, Any]:
    """Generate the JSON Schema (2020-12) of a published type; raises `KeyError` for a name that is not published."""
    (root,), parts = msgspec.json.schema_components([NAMES[name]])
    title = f"session-triage {name}"
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}
    return {**head, **root, "$defs": parts}


def text(name: str) -> bytes:
    """Render a schema as it is checked in."""
    return msgspec.json.format(msgspec.json.encode(json_schema(name)), indent=2) + b"\n"


def write(folder: Path = FOLDER) -> None:
    """Write every schema into a folder."""
    folder.mkdir(exist_ok=True)
    for name in NAMES:
        (folder / f"{name}.schema.json").write_bytes(text(name))


if __name__ == "__main__":
    write()
