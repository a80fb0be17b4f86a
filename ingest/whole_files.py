"""Files and folders that appear whole or not at all."""

import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

STDOUT: Final = "-"
_BUFFER_BYTES: Final = 1024 * 1024
_FOLDER_MODE: Final = 0o777


@contextmanager
def whole_file(output: str) -> Iterator[BinaryIO]:
    """Open a file to write that replaces the one of its name when all is written; `-` is standard output.

    Raises `OSError`; then, and when anything else is raised inside, the former file stays.
    """
    if output == STDOUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(output)
    # Named before it is made: a signal at any moment finds it to remove.
    draft = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    try:
        with draft.open("xb", buffering=_BUFFER_BYTES) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


@contextmanager
def whole_folder(folder: Path, marker: str) -> Iterator[Path]:
    """Give a folder to fill that takes the place of `folder` when all is written.

    A folder that is there already must be empty or hold the file `marker` of an earlier export; whatever else it held
    then goes with it, so the caller asks before (`replaceable`). Raises `OSError`; then nothing has changed.
    """
    target = folder.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent))
    try:
        yield draft
        os.sync()  # one barrier for all files: a sync for each would take minutes for thousands
        draft.chmod(_FOLDER_MODE & ~_umask())
        _take_place(draft, target, marker)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def _take_place(draft: Path, target: Path, marker: str) -> None:
    if not (target / marker).exists():
        draft.replace(target)  # over nothing, or over an empty folder
        return
    former = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".old", dir=target.parent))
    target.replace(former)
    try:
        draft.replace(target)
    except OSError:
        former.replace(target)
        raise
    shutil.rmtree(former)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
