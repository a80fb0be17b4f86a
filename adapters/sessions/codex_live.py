"""Following live Codex rollouts: the growing files by the tailer, the compressed ones as finished files.

A rollout at rest for a week is replaced by its compressed form: what was told from the plain file keeps its event ids,
so nothing is new in it. Where both stand side by side the plain one is read. Source: section 3.2 of the format page;
B35.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from adapters.contract import Capture, Element, Finding
from adapters.files import zst
from adapters.files.check import tail_findings
from adapters.files.discover import Discovery
from adapters.files.finished import PREFIX, FinishedFiles, plain_sibling
from adapters.files.merge import merged
from adapters.files.parsers import ParserFactory
from adapters.files.tail import Backfill, JsonlTailAdapter, TailStats
from adapters.sessions.codex_marks import COMPRESSED

PATTERNS: Final = ("*.jsonl",)


class CodexAdapter:
    """Follows all rollouts below `roots`; an `adapters.contract.Adapter`.

    `parser` makes the parser of a growing file, `read` reads a compressed one whole.
    """

    def __init__(
        self,
        name: str,
        roots: Iterable[Path],
        parser: ParserFactory,
        read: Callable[[Path], Iterator[Element]],
        backfill: Backfill = "start",
    ) -> None:
        self.name = name
        self.roots = [Path(root) for root in roots]
        self._growing = JsonlTailAdapter(name, self.roots, parser, backfill=backfill, patterns=PATTERNS)
        self._finished = FinishedFiles(self.roots, ("*" + COMPRESSED,), read, passes=plain_sibling, backfill=backfill)

    def stats(self) -> TailStats:
        """Figures of the growing files, for metrics."""
        return self._growing.stats()

    async def captures(self, checkpoints: Mapping[str, bytes]) -> AsyncIterator[Capture]:
        """See `Adapter`."""
        growing = {part: state for part, state in checkpoints.items() if not part.startswith(PREFIX)}
        captures = merged(self._growing.captures(growing), self._finished.captures(checkpoints))
        try:
            async for capture in captures:
                yield capture
        finally:
            await captures.aclose()

    async def check(self) -> list[Finding]:
        """See `Checked`."""
        discovery = Discovery(self.roots, (*PATTERNS, "*" + COMPRESSED))
        found = await asyncio.to_thread(tail_findings, discovery)
        if not zst.available():
            found.append(Finding("warning", "rollouts that Codex has compressed cannot be read", zst.EXTRA))
        return found
