"""The client-server API of Matrix as this project uses it: raw JSON, typed calls, and every failure in words.

A failure is a `SourceError`: worth another try for the network, a server in trouble and rate limits (with the pause it
asks for), for a person when the token is no good. None of them, nor a log line, shows a token. Source: the Matrix
specification, client-server API 1.11 (errors, `/sync`, `/messages`); section 3.2 of the chat platform notes; case 25.
"""

from http import HTTPStatus
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self
from urllib.parse import quote, urlencode

from adapters.chat.words import one_line
from adapters.contract import PermanentSourceError, SourceError, TransientSourceError
from adapters.exports.fields import Object, array, number, obj, text, word
from adapters.files.json_line import BadLine, LineDecoder, compact_json

if TYPE_CHECKING:
    from adapters.chat.matrix_http import Answer, Transport

ANSWER_SECONDS: Final = 60.0
"""More than a call takes that does not wait, on a busy server too; a sync has as much on top of its waiting."""

FIRST_SYNC_FACTOR: Final = 10
"""The first sync gathers all rooms: minutes for an account with thousands."""

MAX_ANSWER_BYTES: Final = 32 * 1024 * 1024
"""The largest answer: one of 5000 rooms with their names, or of hundreds of the largest events (64 KB each).

Decoded it takes about twice as much memory (measured: 28 MB of 800 rooms, 50 MB).
"""

LONGEST_PAUSE_SECONDS: Final = 3600.0
"""A pause that the server asks for is kept, up to an hour: a slip of a proxy must not silence a source for days."""

CLIENT: Final = "/_matrix/client/v3"

_NO_TOKEN: Final = frozenset({"M_UNKNOWN_TOKEN", "M_MISSING_TOKEN"})
_NO_USER: Final = frozenset({"M_USER_DEACTIVATED", "M_USER_LOCKED", "M_USER_SUSPENDED"})
_decoder: Final = LineDecoder[Object](dict[str, Any])


class RefusedError(TransientSourceError):
    """The server understands a call and refuses it; `code` is Matrix's, such as `M_FORBIDDEN`."""

    def __init__(self, message: str, code: str, status: int) -> None:
        super().__init__(message)
        self.code = code
        self.status = status


class UnknownTokenError(PermanentSourceError):
    """The access token is not, or no longer, known to the server."""


class LargeAnswerError(TransientSourceError):
    """An answer has more than `MAX_ANSWER_BYTES`; asking for fewer events helps."""


class Page(NamedTuple):
    """Events of a room in order, and the token to go on with; None when there is no more."""

    events: list[Any]
    end: str | None


class MatrixApi:
    """One account at one server; its own context manager. `token` may be given later, by a login."""

    def __init__(self, homeserver: str, token: str = "", answer_seconds: float = ANSWER_SECONDS) -> None:
        self.token = token
        self._url = homeserver.rstrip("/")
        self._seconds = answer_seconds
        self._transport = _transport()

    async def __aenter__(self) -> Self:
        await self._transport.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._transport.close()

    async def call(self, method: str, path: str, body: Object | None = None, seconds: float | None = None) -> Object:
        """Make one call; `path` begins with `/_matrix` and is quoted. Raises `SourceError`."""
        from adapters.chat.matrix_http import TooLargeError  # noqa: PLC0415 - an extra, there since the constructor

        what = path.partition("?")[0].removeprefix(CLIENT)
        raw = None if body is None else compact_json(body).encode()
        seconds = self._seconds if seconds is None else seconds
        try:
            url = self._url + path
            answer = await self._transport.call(method, url, self.token, raw, seconds, MAX_ANSWER_BYTES)
        except TimeoutError:
            raise TransientSourceError(f"the homeserver did not answer {what} within {seconds:.0f} s") from None
        except TooLargeError:
            raise LargeAnswerError(f"the answer to {what} has more than {MAX_ANSWER_BYTES:,} bytes") from None
        except ConnectionError as error:
            raise TransientSourceError(f"the homeserver cannot be reached: {self._safe(str(error))}") from None
        found = _decoded(answer)
        if answer.status != HTTPStatus.OK:
            raise self._refused(answer, found or {}, what)
        if found is None:
            raise TransientSourceError(f"the answer to {what} is no JSON object: is this a homeserver at all?")
        return found

    async def sync(self, since: str | None, wait_seconds: float, asked: Object) -> Object:
        """Give what happened since a token; `asked` is a filter. The server deletes to-device messages before `since`.

        Raises `SourceError`.
        """
        query = {"timeout": int(wait_seconds * 1000), "set_presence": "offline", "filter": compact_json(asked)}
        if since is not None:
            query["since"] = since
        seconds = wait_seconds + self._seconds * (1 if since is not None else FIRST_SYNC_FACTOR)
        try:
            return await self.call("GET", f"{CLIENT}/sync?{urlencode(query)}", seconds=seconds)
        except RefusedError as error:
            if error.code == "M_FORBIDDEN":
                raise PermanentSourceError(str(error)) from None
            raise

    async def messages(self, room: str, start: str | None, end: str | None, most: int) -> Page:
        """Give up to `most` events of a room, oldest first, from a token, or its beginning; raises `SourceError`."""
        query = {"dir": "f", "limit": most}
        query |= {name: token for name, token in (("from", start), ("to", end)) if token is not None}
        answer = await self.call("GET", f"{CLIENT}/rooms/{quoted(room)}/messages?{urlencode(query)}")
        return Page(array(answer.get("chunk")), word(answer.get("end")))

    async def event(self, room: str, event: str) -> Object | None:
        """Give one event; None when it is not there, or not for us. Raises `SourceError`."""
        try:
            return await self.call("GET", f"{CLIENT}/rooms/{quoted(room)}/event/{quoted(event)}")
        except RefusedError:
            return None

    async def join(self, room: str, via: str | None, seconds: float) -> None:
        """Join a room, by way of the server `via` when ours does not know it; raises `SourceError`."""
        query = f"?{urlencode({'via': via, 'server_name': via})}" if via else ""
        await self.call("POST", f"{CLIENT}/join/{quoted(room)}{query}", {}, seconds)

    async def joined(self) -> list[str]:
        """Give the rooms that the account is in; raises `SourceError`."""
        answer = await self.call("GET", f"{CLIENT}/joined_rooms")
        return [room for room in array(answer.get("joined_rooms")) if isinstance(room, str)]

    async def who(self) -> tuple[str, str]:
        """Say whose token it is, and of which device ("" when it is of none); raises `SourceError`."""
        answer = await self.call("GET", f"{CLIENT}/account/whoami")
        return text(answer.get("user_id")), text(answer.get("device_id"))

    def _refused(self, answer: "Answer", told: Object, what: str) -> SourceError:
        """Say what a refusal means to the person who runs this."""
        code, said = text(told.get("errcode")), self._safe(text(told.get("error"))) or "no reason given"
        if answer.status == HTTPStatus.TOO_MANY_REQUESTS:
            pause = _pause(told, answer.retry_after)
            return TransientSourceError(f"the homeserver asks for a pause of {pause:.1f} s: too many requests", pause)
        if code in _NO_TOKEN:
            words = f"the homeserver does not accept the access token ({answer.status} {said}): log in anew"
            return UnknownTokenError(words)
        if code in _NO_USER:
            return PermanentSourceError(f"the account cannot be used ({code}): {said}")
        if HTTPStatus.BAD_REQUEST <= answer.status < HTTPStatus.INTERNAL_SERVER_ERROR and code:
            words = f"the homeserver refuses {what}: {answer.status} {self._safe(code)}: {said}"
            return RefusedError(words, code, answer.status)
        return TransientSourceError(f"the homeserver is in trouble: {answer.status} {said}")

    def _safe(self, words: str) -> str:
        return one_line(words.replace(self.token, "TOKEN") if self.token else words)


def quoted(part: str) -> str:
    """Quote an id as one part of a path; ids are opaque and may hold any character."""
    # A part that is only dots would be taken for a step up the path.
    return quote(part, safe="") if part.strip(".") else quote(part, safe="").replace(".", "%2E")


def _transport() -> "Transport":
    try:
        from adapters.chat.matrix_http import Transport  # noqa: PLC0415 - an extra: who lacks it is told so
    except ModuleNotFoundError as error:
        words = f"{error.name} is not installed: pip install 'session-triage[matrix]'"
        raise PermanentSourceError(words) from None
    return Transport()


def _decoded(answer: "Answer") -> Object | None:
    try:
        return _decoder.decode(answer.body)
    except BadLine:
        return None


def _pause(told: Object, header: str) -> float:
    """Give the pause in seconds: a member of the answer in ms, or the header that has replaced it in Matrix 1.10."""
    asked = number(obj(told).get("retry_after_ms"))
    seconds = asked / 1000 if asked is not None else float(header[:9]) if header.isdecimal() else 0.0
    return min(seconds, LONGEST_PAUSE_SECONDS)
