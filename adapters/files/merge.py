"""Several sources under one name: their captures as they come, each asked for more only after its last is committed."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator

from adapters.contract import Capture


async def merged(*sources: AsyncIterator[Capture]) -> AsyncGenerator[Capture, None]:
    """Give the captures of all sources; what one raises ends them all."""
    waiting = {asyncio.ensure_future(_next(source)): source for source in sources}
    try:
        while waiting:
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                capture = task.result()
                source = waiting.pop(task)
                if capture is not None:
                    yield capture
                    # Asked for the next capture: the last one is committed, and only now may its source know.
                    waiting[asyncio.ensure_future(_next(source))] = source
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        for source in sources:
            if isinstance(source, AsyncGenerator):
                await source.aclose()


async def _next(source: AsyncIterator[Capture]) -> Capture | None:
    return await anext(source, None)
