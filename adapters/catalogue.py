"""Which readers there are: ours by name, others by the entry-point group `session_triage.adapters`.

An entry point gives a class (or any callable without arguments) that makes a `Reader`. A third-party adapter that
cannot be loaded is named in `Catalogue.problems` and costs only itself.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Final, overload

from adapters.contract import HEAD_BYTES, FileHead, Reader
from adapters.files.archive import is_archive
from adapters.files.archive_reader import ArchiveReader

_logger = logging.getLogger(__name__)

GROUP: Final = "session_triage.adapters"

# In order of asking; a module is imported only when its reader's turn comes.
_OURS: Final = (
    "adapters.exports.canonical:CanonicalReader",
    "adapters.exports.pam:PamReader",
    "adapters.exports.pam_stores:PamStoreReader",
    "adapters.sessions.pi:PiReader",
    "adapters.sessions.claude_code:ClaudeCodeReader",
    "adapters.sessions.codex:CodexReader",
    "adapters.sessions.codex:CodexExecReader",
    "adapters.exports.chatgpt:ChatGPTReader",
    "adapters.exports.chatgpt_html:ChatGPTPageReader",
    "adapters.exports.chatgpt_sidecars:shared_links",
    "adapters.exports.chatgpt_sidecars:feedback",
    "adapters.exports.chatgpt_sidecars:account",
    "adapters.exports.chatgpt_sidecars:group_chats",
    "adapters.exports.claude:ClaudeReader",
    "adapters.exports.claude_manifest:ClaudeManifestReader",
    "adapters.exports.claude_sidecars:projects",
    "adapters.exports.claude_sidecars:memories",
    "adapters.exports.claude_sidecars:users",
    "adapters.exports.gemini_activity:GeminiActivityReader",
    "adapters.exports.gemini_activity:OtherActivityReader",
    "adapters.exports.gemini_activity_html:GeminiActivityPageReader",
    "adapters.exports.gemini_activity_html:OtherActivityPageReader",
    "adapters.exports.gemini_stubs:GeminiPagesReader",
    "adapters.exports.gemini_conversations:GeminiConversationReader",
    "adapters.exports.gemini_conversations:GeminiWorkspaceReader",
    "adapters.exports.aistudio:AiStudioReader",
    "adapters.exports.aistudio:AiStudioIndexReader",
    "adapters.exports.copilot:CopilotReader",
    "adapters.exports.grok:GrokReader",
    "adapters.exports.perplexity:PerplexityReader",
    "adapters.exports.perplexity:PerplexityThreadReader",
    "adapters.exports.perplexity:WorkbookReader",
    "adapters.exports.meta_ai:MetaReader",
    "adapters.exports.meta_ai:MetaPeopleReader",
    "adapters.exports.deepseek:DeepSeekReader",
    "adapters.exports.le_chat:LeChatReader",
    "adapters.exports.open_webui:OpenWebUiReader",
    "adapters.exports.libre_chat:LibreChatReader",
    "adapters.exports.lm_studio:LmStudioReader",
    "adapters.exports.clipper:ClipperReader",
    "adapters.exports.claude_sidecars:index",
    "adapters.exports.telegram_export:TelegramExportReader",
    "adapters.exports.telegram_export:TelegramPageReader",
    "adapters.exports.element_export:ElementExportReader",
    "adapters.exports.signal_export:SignalExportReader",
    "adapters.exports.signal_export_chats:SignalChatsReader",
    "adapters.exports.whatsapp_export:WhatsAppExportReader",
)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The readers at hand, in order of asking, and what of others' could not be loaded."""

    readers: Sequence[Reader]
    problems: Sequence[str] = field(default_factory=list)

    def named(self, name: str) -> Reader | None:
        """Give the reader of a provider or of a kind's name, as `--provider` takes it."""
        wanted = name.strip().lower()
        return next((r for r in self.readers if wanted in {r.provider.lower(), r.name.lower()}), None)

    def only(self, name: str) -> "Catalogue":
        """Keep the readers of one provider, or of one kind by its name; there may be none."""
        wanted = name.strip().lower()
        return Catalogue([r for r in self.readers if wanted in {r.provider.lower(), r.name.lower()}], self.problems)

    def ask(self, head: FileHead) -> Reader | None:
        """Find the first reader that knows a file's shape."""
        return next((reader for reader in self.readers if _recognises(reader, head)), None)

    def recognise(self, path: Path) -> Reader | None:
        """Find the reader of a file, that of archives among them; raises `OSError` when it cannot be opened."""
        if reader := self.ask(file_head(path)):
            return reader
        with path.open("rb") as stream:
            return ArchiveReader(self.ask) if is_archive(stream) else None


def _recognises(reader: Reader, head: FileHead) -> bool:
    try:
        return reader.recognises(head)
    except Exception:
        # Foreign code may raise anything; it must not cost the file for who comes after it.
        _logger.exception("recognising-failed", extra={"reader": reader.name})
        return False


def file_head(path: Path) -> FileHead:
    """Read the beginning of a regular file."""
    with path.open("rb") as stream:
        start = stream.read(HEAD_BYTES)
        stream.seek(0, 2)
        return FileHead(path, start, stream.tell())


class _Readers(Sequence[Reader]):
    """Our readers, each imported when it is asked for, then those of others.

    All of them take 0.15 s of CPU, more than reading a usual file; most files are known to one of the first ten.
    """

    def __init__(self, others: Sequence[Reader]) -> None:
        self._ours: list[Reader | None] = [None] * len(_OURS)
        self._others = others

    def __len__(self) -> int:
        return len(self._ours) + len(self._others)

    @overload
    def __getitem__(self, index: int) -> Reader: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Reader]: ...
    def __getitem__(self, index: int | slice) -> Reader | Sequence[Reader]:
        if isinstance(index, slice):
            return [self._reader(place) for place in range(*index.indices(len(self)))]
        return self._reader(range(len(self))[index])

    def __iter__(self) -> Iterator[Reader]:
        return map(self._reader, range(len(self)))

    def _reader(self, place: int) -> Reader:
        if place >= len(_OURS):
            return self._others[place - len(_OURS)]
        found = self._ours[place] = self._ours[place] or _ours(_OURS[place])
        return found


def load() -> Catalogue:
    """Give our readers and the installed ones."""
    readers: list[Reader] = []
    problems: list[str] = []
    for entry in entry_points(group=GROUP):
        loaded = _theirs(entry)
        if isinstance(loaded, str):
            problems.append(loaded)
        else:
            readers.append(loaded)
    return Catalogue(_Readers(readers), problems)


def _ours(spec: str) -> Reader:
    module, _, name = spec.partition(":")
    reader: Reader = getattr(import_module(module), name)()
    return reader


def _theirs(entry: EntryPoint) -> Reader | str:
    try:
        reader = entry.load()()
    except Exception as error:  # noqa: BLE001 - foreign code may raise anything; it is named and costs only itself
        return f"adapter {entry.name} ({entry.value}) cannot be loaded: {type(error).__name__}: {error}"
    if not all(hasattr(reader, member) for member in ("name", "provider", "recognises", "read")):
        return f"adapter {entry.name} ({entry.value}) is no Reader: see adapters.contract"
    loaded: Reader = reader
    return loaded
