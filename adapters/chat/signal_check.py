"""What `session-ingest sources check` tells of a signal-cli daemon: nothing is received, and no subscription made."""

import os
from collections.abc import Sequence
from pathlib import Path

from adapters.chat.signal_address import Address
from adapters.chat.signal_intake import ON_START, find_account, receives_on_its_own
from adapters.chat.signal_rpc import Rpc
from adapters.chat.signal_wire import Line, Wire
from adapters.contract import Finding, SourceError, TransientSourceError
from adapters.exports.fields import obj, word


async def findings(address: Address, account: str, journal: Path) -> list[Finding]:
    """Ask signal-cli what it is, whether it has the account, and how it receives; look at the journal."""
    found = _of_address(address) + _of_journal(journal)
    came = 0

    async def note(lines: Sequence[tuple[Line, object]]) -> None:
        nonlocal came
        came += len(lines)

    try:
        async with Wire(address) as wire:
            rpc = Rpc(wire, note)
            try:
                version = word(obj(await rpc.call("version")).get("version")) or "of an unknown version"
                found.append(Finding("ok", f"signal-cli {version} answers at {address.text}"))
                await find_account(rpc, account)
                found.append(Finding("ok", f"it would read what {account} receives, and sends from other devices"))
                found.append(_of_mode(on_start=await receives_on_its_own(rpc) or came > 0))
            finally:
                await rpc.close()
    except TransientSourceError as error:
        found.append(Finding("problem", str(error), "is the daemon running, with --tcp or --socket?"))
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


def _of_mode(*, on_start: bool) -> Finding:
    if on_start:
        return Finding("warning", ON_START.partition(": ")[0], ON_START.partition(": ")[2])
    return Finding("ok", "signal-cli keeps what comes at Signal's server until this source asks for it")
