"""A network between clients and a server on loopback that can fall silent, or slow: nothing is closed meanwhile."""

import asyncio
import threading
from contextlib import suppress
from typing import Final, Self

_CHUNK: Final = 64 * 1024
"""Bytes passed on at once; so many of each direction are on their way when the network falls silent."""


class Network:
    """Passes connections on to `target` (a port), both ways, in a thread of its own; its own context manager.

    What is on its way when it falls silent arrives once it speaks again, as late packets do, unless its receiver has
    gone. New connections are accepted meanwhile, as by a router in between, and hear nothing.
    """

    def __init__(self) -> None:
        self.target = 0
        self.delay = 0.0
        """Seconds that each piece of each direction takes."""
        self._loop = asyncio.new_event_loop()
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server: asyncio.Server = self._run(asyncio.start_server(self._connect, "127.0.0.1", 0))
        self.port: int = self._server.sockets[0].getsockname()[1]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def silence(self) -> None:
        """Let nothing through any longer, in either direction; it is silent when this returns."""
        self._run(self._turn(flowing=False))

    def speak(self) -> None:
        """Let everything through again."""
        self._run(self._turn(flowing=True))

    def _run(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    async def _turn(self, *, flowing: bool) -> None:
        (self._flowing.set if flowing else self._flowing.clear)()

    async def _end(self) -> None:
        self._server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:  # nobody is there
            writer.close()
            return
        try:
            await asyncio.gather(self._pump(reader, far_writer), self._pump(far_reader, writer))
        except asyncio.CancelledError:  # the end of the test; asyncio would log it as a fault of the connection
            writer.close()
            far_writer.close()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(_CHUNK):
                await asyncio.sleep(self.delay)
                await self._flowing.wait()
                writer.write(data)
                await writer.drain()
            await self._flowing.wait()
        writer.close()
