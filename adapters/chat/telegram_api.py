"""The Bot API as this project uses it: raw updates with an offset, who the bot is, and what it may read.

python-telegram-bot carries the requests. Its `Updater` confirms updates before anybody has them, and its `Bot` fails a
whole batch for one update it cannot build; so answers are decoded here, and no update is built from its classes. Every
failure is a `SourceError` in words, and none of them, nor a log line, shows the token. Source: sections 2.1 to 2.3 of
the chat platform notes; case 15.
"""

import json
import re
from collections.abc import Mapping
from http import HTTPStatus
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self, TypeVar

import msgspec
from msgspec import Raw, Struct

from adapters.chat.telegram_updates import KINDS
from adapters.chat.words import one_line
from adapters.contract import PermanentSourceError, SourceError, TransientSourceError
from adapters.exports.fields import array, number, obj, text
from adapters.files.json_line import BadLine, compact_json, decode_line

if TYPE_CHECKING:
    from adapters.chat.telegram_http import Transport

OFFICIAL_URL: Final = "https://api.telegram.org"

BATCH: Final = 100
"""Updates asked for at once, the most that the server gives."""

ANSWER_SECONDS: Final = 20.0
"""More than any call takes that does not wait; a long poll has as much on top."""

LONGEST_PAUSE_SECONDS: Final = 3600.0
"""A pause that the server asks for is kept, up to an hour: a slip of a proxy must not silence a source for days."""

_TOKEN: Final = re.compile(r"[0-9]{1,20}:[A-Za-z0-9_-]{1,200}")
_BAD_TOKEN: Final = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND})

S = TypeVar("S", bound=Struct)


class BotUser(Struct, frozen=True):
    """Who the bot is."""

    id: int
    username: str = ""
    can_read_all_group_messages: bool = False
    can_connect_to_business: bool = False


class Webhook(Struct, frozen=True):
    """The webhook that is set; an empty `url` means none. `last_error_date` is Unix seconds."""

    url: str = ""
    pending_update_count: int = 0
    last_error_date: int = 0
    last_error_message: str = ""
    max_connections: int = 0
    allowed_updates: list[str] = []


class _User(Struct):
    id: int


class _Connection(Struct):
    user: _User


class _Answer(Struct):
    ok: bool = False
    result: Raw = Raw(b"null")


class TelegramApi:
    """One bot at one server; its own context manager. `token` is checked for its form: it becomes part of addresses."""

    def __init__(self, token: str, url: str = OFFICIAL_URL) -> None:
        if not _TOKEN.fullmatch(token):
            raise PermanentSourceError("the token has not the form 123456:ABC-DEF that @BotFather gives")
        self._token = token
        self._accepted = False  # a wrong token and an unknown method are both answered with 404
        self._url = f"{url.rstrip('/')}/bot{token}"
        self._transport = _transport()

    async def __aenter__(self) -> Self:
        await self._transport.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._transport.close()

    async def updates(self, offset: int, wait_seconds: int) -> list[bytes]:
        """Give the updates from `offset` on as they came, waiting for some; this confirms all below `offset`.

        An `offset` of 0 confirms nothing. Raises `SourceError`.
        """
        asked: dict[str, int | str] = {"limit": BATCH, "timeout": wait_seconds, "allowed_updates": json.dumps(KINDS)}
        if offset > 0:  # a negative one would forget all but the last ones
            asked["offset"] = offset
        return _elements(await self._call("getUpdates", asked, ANSWER_SECONDS + wait_seconds))

    async def me(self) -> BotUser:
        """Say who the bot is; raises `SourceError`."""
        return self._typed(await self._call("getMe"), BotUser)

    async def webhook(self) -> Webhook:
        """Say which webhook is set; raises `SourceError`."""
        return self._typed(await self._call("getWebhookInfo"), Webhook)

    async def owner(self, connection: str) -> int | None:
        """Say which user a business connection is with, None when the server does not know it; raises `SourceError`."""
        try:
            answer = await self._call("getBusinessConnection", {"business_connection_id": connection})
        except RefusedError:
            return None
        return self._typed(answer, _Connection).user.id

    async def _call(
        self, method: str, asked: Mapping[str, int | str] | None = None, seconds: float = ANSWER_SECONDS
    ) -> bytes:
        try:
            status, body = await self._transport.call(f"{self._url}/{method}", asked or {}, seconds)
        except TimeoutError:
            raise TransientSourceError(f"Telegram did not answer {method} within {seconds:.0f} s") from None
        except ConnectionError as error:
            raise TransientSourceError(f"Telegram cannot be reached: {self._safe(str(error))}") from None
        if status == HTTPStatus.OK:
            self._accepted = True
            return body
        raise self._refused(status, body, method)

    def _refused(self, status: int, body: bytes, method: str) -> SourceError:
        """Say what a refusal means to the person who runs this."""
        try:
            answer = obj(decode_line(body))
        except BadLine:
            answer = {}
        said = self._safe(text(answer.get("description"))) or "no reason given"
        if status == HTTPStatus.CONFLICT:
            return _conflict(said)
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            pause = min(float(number(obj(answer.get("parameters")).get("retry_after")) or 0), LONGEST_PAUSE_SECONDS)
            return TransientSourceError(f"Telegram asks for a pause of {pause:.0f} s: too many requests", pause)
        if status == HTTPStatus.BAD_REQUEST or (status == HTTPStatus.NOT_FOUND and self._accepted):
            return RefusedError(f"Telegram refuses {method}: {said}")
        if status in _BAD_TOKEN:
            words = f"Telegram does not accept the token ({status} {said}): take a new one from @BotFather"
            return PermanentSourceError(words)
        return TransientSourceError(f"Telegram is in trouble: {status} {said}")

    def _typed(self, body: bytes, shape: type[S]) -> S:
        try:
            return msgspec.json.decode(_answer(body).result, type=shape)
        except msgspec.MsgspecError as error:
            raise TransientSourceError(f"Telegram's answer is not what it should be: {error}") from None

    def _safe(self, words: str) -> str:
        """Make words of others fit for one line of a log or a terminal, without the token."""
        return one_line(words.replace(self._token, "TOKEN"))


def _transport() -> "Transport":
    try:
        from adapters.chat.telegram_http import Transport  # noqa: PLC0415 - an extra: who lacks it is told so
    except ModuleNotFoundError as error:
        words = f"{error.name} is not installed: pip install 'session-triage[telegram]'"
        raise PermanentSourceError(words) from None
    return Transport(ANSWER_SECONDS)


def _conflict(said: str) -> SourceError:
    if "webhook" in said.lower():
        return PermanentSourceError(
            "conflict: a webhook is set for this bot, and nothing can be polled while it is: "
            'delete it (deleteWebhook), or set mode = "webhook"'
        )
    return TransientSourceError("conflict: another program polls with this token: stop it, or give each its own bot")


class RefusedError(TransientSourceError):
    """The server understands a call and refuses it (400)."""


def _answer(body: bytes) -> _Answer:
    """Decode the frame of an answer; raises `TransientSourceError`."""
    try:
        answer = msgspec.json.decode(body, type=_Answer)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise TransientSourceError("Telegram's answer is no JSON: a proxy, or another server?") from None
    if not answer.ok:
        raise TransientSourceError("Telegram's answer says that it is none")
    return answer


def _elements(body: bytes) -> list[bytes]:
    """Give the raw elements of an answer; what strict JSON refuses in one of them does not keep back the others."""
    try:
        return [bytes(element) for element in msgspec.json.decode(_answer(body).result, type=list[Raw])]
    except msgspec.MsgspecError as error:
        raise TransientSourceError(f"Telegram's answer is not what it should be: {error}") from None
    except TransientSourceError:
        elements = _forgiven(body)
        if elements is None:
            raise
        return elements


def _forgiven(body: bytes) -> list[bytes] | None:
    try:
        answer = obj(decode_line(body))
        found = [compact_json(element).encode() for element in array(answer.get("result"))]
    except (BadLine, RecursionError):
        return None
    return found if answer.get("ok") is True and isinstance(answer.get("result"), list) else None
