"""An app of WhatsApp's Cloud API as a source on a real server, and Meta as its sender."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from adapters.chat.whatsapp import WhatsAppWebhook
from tests.support.served import Answer, Served
from tests.support.sources import MemoryLog
from tests.support.whatsapp import APP_SECRET, VERIFY_TOKEN, signed

PATH = "/v1/whatsapp/shop"
HANDSHAKE = "hub.mode=subscribe&hub.verify_token=vt&hub.challenge=1158201444"


def hook(verify_token: str = VERIFY_TOKEN, app_secret: str = APP_SECRET) -> WhatsAppWebhook:
    return WhatsAppWebhook("whatsapp.shop", lambda: verify_token, lambda: app_secret)


def run(work: Callable[[Served], Awaitable[Any]], log: MemoryLog | None = None) -> Served:
    """Serve while `work` lasts."""

    async def serve() -> Served:
        # A thread for each sender of this test, and for what the source reads meanwhile.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(128))
        async with Served([hook()], log or MemoryLog()) as served:
            await work(served)
        return served

    return asyncio.run(serve())


async def send(served: Served, body: object, headers: dict[str, str] | None = None) -> Answer:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return await served.send(PATH, raw, signed(raw) if headers is None else headers)
