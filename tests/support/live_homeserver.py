"""A homeserver on loopback in whose rooms somebody speaks all the time: `/sync` and `/messages` as Synapse pages them.

A `since` is `s` and a number of the server's stream; a room's `t` and a place in its history. A sync gives what came
after its `since`, of each room the latest events up to the filter's limit, and says `limited` where it leaves some out.
"""

import asyncio
import json
import threading
import time
from collections import defaultdict
from typing import Any

from starlette.responses import JSONResponse, Response

from tests.support.fake_homeserver import FakeHomeserver, answer, room


class LiveHomeserver(FakeHomeserver):
    """One account's server whose rooms, all joined from the start, grow by what is said in them."""

    def __init__(self) -> None:
        super().__init__()
        self.history: dict[str, list[Any]] = defaultdict(list)
        self._stream: list[tuple[str, int]] = []
        """Of each event of the server: its room, and its place in that room's history."""
        self._saying = threading.Lock()

    def say(self, name: str, event: Any) -> None:
        """Put an event at the end of a room."""
        with self._saying:
            self._stream.append((name, len(self.history[name])))
            self.history[name].append(event)

    @property
    def newest(self) -> str:
        """The `since` of who has everything."""
        return f"s{len(self._stream)}"

    @property
    def reached(self) -> int:
        """The highest `since` that was ever asked for, as a number of the stream."""
        return max((int(since[1:]) for since in self.sinces if since), default=0)

    async def _sync(self, query: dict[str, str]) -> Response:
        since = query.get("since", "s0")
        until = time.monotonic() + int(query.get("timeout", "0")) / 1000
        while since == self.newest and time.monotonic() < until and not self._server.should_exit:  # noqa: ASYNC110
            await asyncio.sleep(0.005)
        limit = json.loads(query["filter"])["room"]["timeline"]["limit"]
        with self._saying:
            fresh: dict[str, list[int]] = defaultdict(list)
            for name, place in self._stream[int(since[1:]) :]:
                fresh[name].append(place)
            rooms = {name: self._timeline(name, places, limit) for name, places in fresh.items()}
            return JSONResponse(answer(self.newest, join=rooms))

    def _timeline(self, name: str, places: list[int], limit: int) -> dict[str, Any]:
        given = places[-limit:]
        events = [self.history[name][place] for place in given]
        return room(*events, limited=len(given) < len(places), prev_batch=f"t{given[0]}")

    def _page(self, name: str, query: dict[str, str]) -> dict[str, Any]:
        start = query.get("from", "t0")
        if start.startswith("s"):  # as a gap begins: behind what the account has read of all rooms
            seen = sum(told == name for told, _ in self._stream[: int(start[1:])])
            query = query | {"from": f"t{seen}"}
        return super()._page(name, query)
