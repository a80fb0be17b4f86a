"""`session-ingest sources check`: whether sources would work, in words a person can act on."""

import asyncio
import sys
import time
from collections.abc import Sequence
from typing import Final

import msgspec
from rich.console import Console
from rich.text import Text

from adapters.contract import Adapter, Checked, Finding, SourceError
from ingest import advice
from ingest.commands.sources.listing import known_status, views_of
from ingest.commands.sources.reach import reach_findings
from ingest.commands.status import age
from ingest.settings import Settings
from ingest.sources import ConfiguredSource, sources_of
from ingest.status import SourceView, Status

CHECK_SECONDS: Final = 30.0
"""A platform that has not answered by then does not answer."""

_HEALTHY: Final = frozenset({"starting", "running", "idle"})


class UnknownSourceError(ValueError):
    """No source of the settings has the name; the message lists those there are."""


def check_sources(settings: Settings, names: Sequence[str], console: Console, *, as_json: bool) -> int:
    """Check the named sources, or all that are on; gives the exit status. Raises `UnknownSourceError`."""
    there = {source.name: source for source in sources_of(settings)}
    if unknown := [name for name in names if name not in there]:
        raise UnknownSourceError(f"sources check {unknown[0]}: there is no such source; there are: {', '.join(there)}")
    chosen = [there[name] for name in names] or [source for source in there.values() if source.enabled]
    found = asyncio.run(_check_all(settings, chosen, known_status(settings)))
    if as_json:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(found), indent=2).decode() + "\n")
    else:
        for name, findings in found.items():
            _print(name, findings, console)
    return int(any(finding.level == "problem" for findings in found.values() for finding in findings))


async def _check_all(
    settings: Settings, chosen: Sequence[ConfiguredSource], status: Status | None
) -> dict[str, list[Finding]]:
    warnings = status.warnings if status else advice.told(settings, None, time.time())
    views = views_of(status)
    found: dict[str, list[Finding]] = {}
    for source in chosen:
        own = [words for each in warnings if (words := each.removeprefix(f"source {source.name}: ")) != each]
        findings = await _check(settings, source)
        findings += [Finding("warning", words) for words in own]
        found[source.name] = findings + _of_view(views.get(source.name))
    return found


async def _check(settings: Settings, source: ConfiguredSource) -> list[Finding]:
    """Look at one source; one that is off is looked at all the same, for whoever is about to switch it on."""
    found = [] if source.enabled else [Finding("warning", "switched off: nothing is read", _switch_on(source.name))]
    try:
        adapter = source.make()
        found += await _of_adapter(adapter)
        found += await asyncio.to_thread(reach_findings, settings, adapter)
    except SourceError as error:
        found.append(Finding("problem", str(error)))
    except Exception as error:  # noqa: BLE001 - its words are a library's and may hold an address with a token in it
        found.append(Finding("problem", f"the check failed with an unexpected {type(error).__name__}"))
    return found


async def _of_adapter(adapter: Adapter) -> list[Finding]:
    if not isinstance(adapter, Checked):
        return [Finding("ok", "this kind of source has nothing to check beforehand")]
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            return await adapter.check()
    except TimeoutError:
        return [Finding("problem", f"no answer within {CHECK_SECONDS:.0f} s", "see whether the network reaches it")]


def _of_view(view: SourceView | None) -> list[Finding]:
    """What log and daemon know of the source."""
    if view is None:
        return [Finding("ok", "it was never followed so far")]
    events, when = view.counts.get("emitted", 0), age(view.last_event_age_seconds)
    found = [Finding("ok", f"{events:,} events so far, the last {when}" if events else "no events so far")]
    if view.state is None:
        return found
    if view.state in _HEALTHY:
        return [*found, Finding("ok", f"the running daemon follows it: {view.state}")]
    return [*found, Finding("problem", f"the running daemon: {view.state}: {view.last_error or 'no reason given'}")]


def _switch_on(name: str) -> str:
    return f"set enabled = true in [sources.{name}]"


def _print(name: str, findings: Sequence[Finding], console: Console) -> None:
    console.print(Text(name, style="bold"))
    for finding in findings:
        console.print(Text(f"  {finding.level:<8} {finding.what}"), soft_wrap=True)
        if finding.advice:
            console.print(Text(f"           {finding.advice}"), soft_wrap=True)
