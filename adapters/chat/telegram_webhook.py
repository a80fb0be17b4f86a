"""A Telegram bot whose updates are sent to the daemon's HTTP server: each is answered once it is in the log.

The server repeats what is not answered with 2xx. Only who knows the secret of `setWebhook` is read at all. The webhook
itself is set by a person: where it points to, and with which certificate, is not this program's to decide. Source:
section 2.2 of the chat platform notes.
"""

import hmac
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from adapters.chat.inbox import Inbox
from adapters.chat.receive import answering, receive
from adapters.chat.recent import Recent
from adapters.chat.refusal import Refusal
from adapters.chat.telegram_api import OFFICIAL_URL, TelegramApi
from adapters.chat.telegram_check import findings, of_delivery
from adapters.chat.telegram_memory import MAX_CONNECTIONS, Memory
from adapters.chat.telegram_people import People
from adapters.chat.telegram_updates import KINDS, Update, Updates
from adapters.contract import Capture, Finding, PermanentSourceError, SourceError

PATH: Final = "/v1/telegram/"
"""The source's name stands behind it."""

MIN_SECRET_CHARS: Final = 16
"""A shorter one can be guessed. Telegram takes up to 256 letters, digits, dashes and underscores."""

MAX_UPDATE_BYTES: Final = 1024 * 1024
"""Telegram's largest updates, albums of polls in replies to each other, are a tenth of it."""

RETRY_SECONDS: Final = "5"


@dataclass(slots=True)
class _Followed:
    """What is known while the source is followed."""

    secret: bytes
    api: TelegramApi
    memory: Memory
    updates: Updates
    strangers: Recent = field(default_factory=lambda: Recent(MAX_CONNECTIONS))
    """Connections that the server does not know either."""

    def wonders_about(self, connection: str | None) -> bool:
        """Whether somebody has to be asked first whose business account it is."""
        return connection is not None and not any(
            known.get(connection) is not None for known in (self.memory.connections, self.strangers)
        )


class _OwnerUnknown(Refusal):
    """An update that cannot be read before its account's owner is known; it is sent again in a moment."""

    def __init__(self, connection: str) -> None:
        super().__init__(503, "it is being found out whose business account this is", {"Retry-After": "1"})
        self.connection = connection


class TelegramWebhook:
    """One bot that sends; an `adapters.contract.Adapter`, `Routed` and `Checked`.

    `token` and `secret` are looked up at each start and raise `SourceError`; the rest is as in `TelegramSource`.
    """

    def __init__(
        self,
        name: str,
        account: str,
        token: Callable[[], str],
        secret: Callable[[], str],
        operators: frozenset[int] = frozenset(),
        url: str = OFFICIAL_URL,
    ) -> None:
        self.name = name
        self.inbox = Inbox()
        self._account, self._operators, self._url = account, operators, url
        self._token, self._secret = token, secret
        self._followed: _Followed | None = None
        self._reading = threading.Lock()

    async def captures(self, checkpoints: Mapping[str, bytes]) -> AsyncIterator[Capture]:
        """Give what is delivered; see `Adapter.captures`. Raises `SourceError`."""
        secret = self._checked_secret().encode()
        async with TelegramApi(self._token(), self._url) as api:
            bot = (await api.me()).id
            memory = Memory(checkpoints, bot, self.name)
            updates = Updates(self._account, People(bot, self._operators), memory, self.name)
            self._followed = _Followed(secret, api, memory, updates)
            try:
                yield Capture(memory.warnings)
                async for capture in self.inbox.captures():
                    yield capture
            finally:
                self._followed = None

    def routes(self) -> Sequence[BaseRoute]:
        """The one address of this bot."""
        return [Route(self._path, answering(self._take), methods=["POST"])]

    async def check(self) -> list[Finding]:
        """See `Checked`."""
        try:
            self._checked_secret()
        except SourceError as error:
            return [Finding("problem", str(error))]
        return await findings(self._token, self._url, lambda webhook: of_delivery(webhook, self._path, KINDS))

    @property
    def _path(self) -> str:
        return PATH + self.name.rpartition(".")[2]

    async def _take(self, request: Request) -> Response:
        followed = self._followed
        if followed is None:
            raise Refusal(503, "this source does not take anything now", {"Retry-After": RETRY_SECONDS})
        presented = request.headers.get("x-telegram-bot-api-secret-token", "").encode("latin-1")
        if not hmac.compare_digest(presented, followed.secret):
            raise Refusal(401, "the secret is not that of this source")
        try:
            await receive(request, self.inbox, lambda raw: self._read(followed, raw), max_bytes=MAX_UPDATE_BYTES)
        except _OwnerUnknown as unknown:
            await self._learn_owner(followed, unknown.connection)
            raise
        except Refusal:
            followed.memory.not_saved()
            raise
        return Response()  # a body could be taken for a call of the Bot API

    def _read(self, followed: _Followed, raw: bytes) -> Capture:
        """Read one update, in a thread; several come at once. Raises `_OwnerUnknown`."""
        update = Update.read(raw)
        with self._reading:
            if followed.wonders_about(update.connection):
                raise _OwnerUnknown(str(update.connection))
            followed.updates.batch()
            elements = followed.updates.elements(update)
            # No offset: deliveries overtake each other, and one that is read later must not look confirmed to polling.
            return Capture(elements, followed.memory.moved(0, followed.updates.time))

    async def _learn_owner(self, followed: _Followed, connection: str) -> None:
        """Ask whose business account it is; when that cannot be found out now, the next delivery asks again."""
        try:
            owner = await followed.api.owner(connection)
        except SourceError as error:
            raise Refusal(503, str(error), {"Retry-After": RETRY_SECONDS}) from None
        known = followed.strangers if owner is None else followed.memory.connections
        known.put(connection, owner or 0)

    def _checked_secret(self) -> str:
        secret = self._secret()
        usable = secret.isascii() and secret.replace("-", "").replace("_", "").isalnum()
        if not usable or len(secret) < MIN_SECRET_CHARS:
            raise PermanentSourceError(
                f"the webhook's secret of {self.name} must have at least {MIN_SECRET_CHARS} letters, digits, dashes "
                "and underscores, such as openssl rand -hex 32 gives; setWebhook gets the same as secret_token"
            )
        return secret
