"""Settings of what the daemon reads: session files and the drop folder once, chat platforms and senders by name.

`[sources.custom.NAME]` and its like may stand any number of times; `custom.NAME` is then the source's name in
checkpoints, metrics and `status`. Secrets are `SecretStr`, or come from a file that `…_file` names.
"""

import re
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec
from pydantic import AfterValidator, BeforeValidator, Field, SecretStr
from pydantic_settings import NoDecode

from adapters.chat.signal_address import USUAL_ADDRESS, Address
from ingest.settings_types import AbsolutePath, Backfill, Section, comma_list, path_list, web_address

_NAME: Final = re.compile(r"[a-z0-9_-]{1,40}")
"""As part of metric labels, checkpoints and transaction ids; lower case, since environment variables know no case."""

_USER: Final = re.compile(r"@[^:\s]{1,250}:[^\s/?#@]{1,250}")

_NUMBER: Final = re.compile(r"\+[0-9]{3,20}")

S = TypeVar("S", bound=Section)


def _name(value: str) -> str:
    if not _NAME.fullmatch(value):
        raise ValueError("a name of at most 40 lower-case letters, digits, dashes and underscores")
    return value


def _named(value: object) -> object:
    """A table of tables; from the environment JSON, though a variable a setting is the usual way."""
    if isinstance(value, str):
        try:
            value = msgspec.json.decode(value)
        except msgspec.DecodeError:
            value = None
    if not isinstance(value, dict):
        raise ValueError("sections by name")  # noqa: TRY004 - pydantic turns this into a message, and a TypeError not
    return value


def _secret(value: SecretStr) -> SecretStr:
    if not value.get_secret_value() or not value.get_secret_value().isprintable():
        raise ValueError("a text without control characters")
    return value


SourceName = Annotated[str, AfterValidator(_name)]
Named = Annotated[dict[SourceName, S], NoDecode, BeforeValidator(_named)]
Secret = Annotated[SecretStr, AfterValidator(_secret)]


def _words(value: object) -> Any:
    """Account names are trimmed and lower-cased where they are used; here only text is asked for."""
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise ValueError("a name without control characters")
    return value


class SessionSettings(Section):
    """Session files of a coding agent; `paths` empty means where the agent itself keeps them."""

    enabled: bool = True
    paths: Annotated[list[AbsolutePath], NoDecode, BeforeValidator(path_list)] = []
    backfill: Backfill = "start"
    include_hidden: bool = False


class DropSettings(Section):
    """The drop folder: what is put there is read once and moved to `done/` or `rejected/`."""

    enabled: bool = True
    path: AbsolutePath = Field(default_factory=lambda: Path.home() / "session-triage-drop")


class CustomSettings(Section):
    """Senders of canonical events to `POST /v1/events`, known by a bearer token of at least 16 characters."""

    enabled: bool = True
    token: Secret | None = None
    token_file: AbsolutePath | None = None
    account: Annotated[str, BeforeValidator(_words)] | None = None
    """For events that name no account of their own."""


def _ids(value: object) -> object:
    """Ids of Telegram: a list, or separated by commas in an environment variable; JSON lists are understood too."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = value.strip().strip("[]")
    parts = value.split(",") if isinstance(value, str) else value
    try:
        return [int(str(part)) for part in parts]  # type: ignore[attr-defined]  # what is no list is told so, too
    except (ValueError, TypeError):
        raise ValueError("ids of users, such as [123456, 234567]") from None


def _api_url(value: str) -> str:
    return web_address(value, "the address of a Bot API server, such as https://api.telegram.org")


class TelegramSettings(Section):
    """One Telegram bot; `token` is what @BotFather gives."""

    enabled: bool = True
    token: Secret | None = None
    token_file: AbsolutePath | None = None
    account: Annotated[str, BeforeValidator(_words)] | None = None
    """What the bot is called in keys and ids; without one the source's name."""
    operators: Annotated[list[int], NoDecode, BeforeValidator(_ids)] = []
    """Ids of users whose words are the operator's."""
    mode: Literal["polling", "webhook"] = "polling"
    secret: Secret | None = None
    """For `webhook`: the secret_token that was given to setWebhook."""
    secret_file: AbsolutePath | None = None
    api_url: Annotated[str, AfterValidator(_api_url)] = "https://api.telegram.org"


class WhatsAppSettings(Section):
    """One app of WhatsApp's Cloud API, whose webhook is ours; both secrets stand in the app's settings at Meta."""

    enabled: bool = True
    verify_token: Secret | None = None
    """What was entered beside the callback URL."""
    verify_token_file: AbsolutePath | None = None
    app_secret: Secret | None = None
    """What deliveries are signed with."""
    app_secret_file: AbsolutePath | None = None


def _signal_address(value: str) -> str:
    return Address.of(value).text


def _phone_number(value: object) -> str:
    if not isinstance(value, str) or not _NUMBER.fullmatch(value):
        raise ValueError("the number of the account as signal-cli has it, such as +15550100001")
    return value


class SignalSettings(Section):
    """One account of a signal-cli daemon, which must run with `--receive-mode=manual`."""

    enabled: bool = True
    account: Annotated[str, BeforeValidator(_phone_number)]
    address: Annotated[str, AfterValidator(_signal_address)] = USUAL_ADDRESS
    """`host:port` of `--tcp`, the path of `--socket`, or `http://host:port` of `--http`."""


def _users(value: object) -> object:
    return [_user(part.strip()) for part in comma_list(value, 'ids of users, such as ["@ana:example.org"]')]


def _user(value: str) -> str:
    if not _USER.fullmatch(value):
        raise ValueError("the whole id of a user, such as @ana:example.org")
    return value


def _homeserver(value: str) -> str:
    return web_address(value, "the address of a homeserver, such as https://matrix.example.org").rstrip("/")


class MatrixSettings(Section):
    """One Matrix account, with an access token or with its password."""

    enabled: bool = True
    homeserver: Annotated[str, AfterValidator(_homeserver)]
    user: Annotated[str, AfterValidator(_user)]
    token: Secret | None = None
    token_file: AbsolutePath | None = None
    password: Secret | None = None
    """Without a token: used once to log in as a device of its own, which is kept."""
    password_file: AbsolutePath | None = None
    account: Annotated[str, BeforeValidator(_words)] | None = None
    """What the account is called in keys; without one the source's name."""
    operators: Annotated[list[str], NoDecode, BeforeValidator(_users)] = []
    """Users whose words are the operator's, and whose invitations are followed."""
    bots: Annotated[list[str], NoDecode, BeforeValidator(_users)] = []
    """Users that are programs: bridges, assistants."""
    backfill: Literal["start", "now"] = "start"
    """Whether the history of a room is read when the room is first seen."""
    join: Literal["operators", "never", "anyone"] = "operators"
    """Whose invitations are followed; the replacement of an upgraded room is joined unless it is `never`."""
    encryption: bool = True


class SourceSettings(Section):
    """What the daemon reads."""

    pi: SessionSettings = SessionSettings()
    claude_code: SessionSettings = SessionSettings(enabled=False)
    codex: SessionSettings = SessionSettings(enabled=False)
    drop: DropSettings = Field(default_factory=DropSettings)
    custom: Named[CustomSettings] = {}
    telegram: Named[TelegramSettings] = {}
    matrix: Named[MatrixSettings] = {}
    signal: Named[SignalSettings] = {}
    whatsapp: Named[WhatsAppSettings] = {}
