"""What `session-ingest sources check` tells of a bot, before it runs or while it does: nothing is read or confirmed."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlsplit

from adapters.chat.telegram_api import OFFICIAL_URL, BotUser, TelegramApi, Webhook
from adapters.contract import Finding, SourceError

_HERE: Final = frozenset({"localhost", "127.0.0.1", "::1"})


async def findings(token: Callable[[], str], url: str, of_webhook: Callable[[Webhook], list[Finding]]) -> list[Finding]:
    """Ask who the bot is and what stands in the way; `of_webhook` judges the webhook that is set or not."""
    found = _of_server(url)
    try:
        async with TelegramApi(token(), url) as api:
            found += _of_bot(await api.me())
            webhook = await api.webhook()
    except SourceError as error:
        return [*found, Finding("problem", str(error))]
    found.append(Finding("ok", f"updates that wait to be read: {webhook.pending_update_count}"))
    return found + of_webhook(webhook)


def of_polling(webhook: Webhook) -> list[Finding]:
    """Polling needs that there is no webhook."""
    if not webhook.url:
        return []
    return [
        Finding(
            "problem",
            "a webhook is set for this bot, and nothing can be polled while it is",
            'delete it (deleteWebhook) if nobody needs it, or set mode = "webhook"',
        )
    ]


def of_delivery(webhook: Webhook, path: str, kinds: tuple[str, ...]) -> list[Finding]:
    """Deliveries need that there is one, that it reaches us at `path`, and that the `kinds` are asked for."""
    if not webhook.url:
        advice = f"call setWebhook with an url that ends with {path}, the secret_token, and max_connections 1"
        return [Finding("problem", "no webhook is set, so that nothing comes", advice)]
    address = urlsplit(webhook.url)
    found = [Finding("ok", f"updates are sent to {address.netloc}")]
    if not address.path.endswith(path):
        words = f"they are sent to {address.path}, which is not this source's {path}"
        found.append(Finding("warning", words, "right only if a proxy in between changes it"))
    if webhook.last_error_date:
        when = datetime.fromtimestamp(webhook.last_error_date, UTC).isoformat(timespec="seconds")
        found.append(Finding("warning", f"the last delivery failed at {when}: {webhook.last_error_message}"))
    if webhook.max_connections != 1:
        advice = "set max_connections of setWebhook to 1"
        found.append(Finding("warning", "several deliveries come at once and may overtake each other", advice))
    missing = [kind for kind in kinds if kind not in webhook.allowed_updates]
    if missing:
        advice = "name them as allowed_updates of setWebhook"
        found.append(Finding("warning", f"these kinds of updates are not asked for: {', '.join(missing)}", advice))
    return found


def _of_server(url: str) -> list[Finding]:
    if url == OFFICIAL_URL:
        return []
    parts = urlsplit(url)
    if parts.scheme == "https" or parts.hostname in _HERE:
        return [Finding("ok", f"the Bot API is that of {parts.netloc}")]
    return [Finding("warning", f"the token goes to {parts.netloc} unencrypted", "use https")]


def _of_bot(bot: BotUser) -> list[Finding]:
    found = [Finding("ok", f"the token is that of @{bot.username} ({bot.id})")]
    if not bot.can_read_all_group_messages:
        found.append(
            Finding(
                "warning",
                "privacy mode is on: in groups the bot sees commands and answers to itself alone",
                "turn it off with /setprivacy at @BotFather, or make the bot an admin; then add it to the group again",
            )
        )
    if not bot.can_connect_to_business:
        found.append(Finding("ok", "it reads no business accounts; @BotFather can allow that"))
    return found
