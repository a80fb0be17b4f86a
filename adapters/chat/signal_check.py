"""What `session-ingest sources check` tells of a signal-cli daemon: nothing is received, and no subscription made."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from adapters.chat.signal_address import Address
from adapters.chat.signal_intake import ON_START, find_account, receives_on_its_own, version_of
from adapters.chat.signal_subscription import FORGETS, connected, numbers_events
from adapters.chat.signal_wire import Line
from adapters.contract import Finding, SourceError, TransientSourceError

_MODE: Final = "make sure that it runs with --receive-mode=manual: else what comes while nobody reads is lost"


async def findings(address: Address, account: str, journal: Path) -> list[Finding]:
    """Ask signal-cli what it is, whether it has the account, and how it receives; look at the journal."""
    found = _of_address(address) + _of_journal(journal)
    came = 0

    async def note(lines: Sequence[tuple[Line, object]]) -> None:
        nonlocal came
        came += len(lines)

    try:
        async with connected(address, account, note) as (rpc, _):
            version = await version_of(rpc)
            found.append(Finding("ok", f"signal-cli {version} answers at {address.text}"))
            await find_account(rpc, account)
            found.append(Finding("ok", f"it would read what {account} receives, and sends from other devices"))
            if address.http:
                found += _of_http(version)
            else:
                found.append(_of_mode(on_start=await receives_on_its_own(rpc) or came > 0))
    except TransientSourceError as error:
        found.append(Finding("problem", str(error), f"is the daemon running, with {address.option}?"))
    except SourceError as error:
        found.append(Finding("problem", str(error)))
    return found


def _of_address(address: Address) -> list[Finding]:
    if address.local:
        return []
    words = f"messages come from {address.text} unencrypted, and anybody there can send as this account"
    return [Finding("warning", words, "use a socket on this machine, or a tunnel")]


def _of_journal(journal: Path) -> list[Finding]:
    place = next((folder for folder in (journal, *journal.parents) if folder.exists()), journal)
    if not os.access(place, os.W_OK):
        return [Finding("problem", f"the journal {journal} cannot be written", f"give this user the right to {place}")]
    return [Finding("ok", f"what is received is first written to {journal}")]


def _of_http(version: str) -> list[Finding]:
    told = Finding("ok", "over HTTP signal-cli does not say how it receives", _MODE)
    return [told] if numbers_events(version) else [told, _parted("warning", FORGETS)]


def _of_mode(*, on_start: bool) -> Finding:
    if on_start:
        return _parted("warning", ON_START)
    return Finding("ok", "signal-cli keeps what comes at Signal's server until this source asks for it")


def _parted(level: Literal["ok", "warning", "problem"], words: str) -> Finding:
    """Make a finding of what is told at the start of a source: what is wrong, a colon, and what to do."""
    what, _, advice = words.partition(": ")
    return Finding(level, what, advice)
