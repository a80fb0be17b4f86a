"""Only who knows the verify token is answered a handshake, and only what the app's secret signed is read."""

import asyncio
import json

import pytest

from adapters.chat.whatsapp import WhatsAppWebhook
from adapters.contract import PermanentSourceError
from tests.support.messengers import case
from tests.support.served import Answer, Served
from tests.support.whatsapp import signed
from tests.support.whatsapp_hook import HANDSHAKE, PATH, hook, run, send


def get(query: str, path: str = PATH) -> tuple[Answer, Served]:
    async def work(served: Served) -> None:
        answers.append(await served.send(f"{path}?{query}", None, {}, "GET"))

    answers: list[Answer] = []
    served = run(work)
    return answers[0], served


def test_the_handshake_needs_no_signature() -> None:
    """Case 47: the challenge alone, as plain text, and nothing is produced."""
    request_line = case(47, "input.http").decode().splitlines()[0]
    query = request_line.split()[1].partition("?")[2]
    answer, served = get(query)
    assert (answer.status, str(answer.body)) == (200, "1158201444")
    assert answer.headers["content-type"].partition(";")[0] == "text/plain"
    assert served.log.records == []


@pytest.mark.parametrize(
    "query",
    [
        "",
        HANDSHAKE.replace("=vt", "=wrong"),
        HANDSHAKE.replace("=vt", "="),
        HANDSHAKE.replace("=vt", "=v%C3%A4t"),
        HANDSHAKE.replace("hub.verify_token=vt&", ""),
        HANDSHAKE.replace("subscribe", "unsubscribe"),
        HANDSHAKE.replace("hub.mode=subscribe&", ""),
        HANDSHAKE.partition("&hub.challenge")[0],
    ],
)
def test_nothing_is_echoed_to_anybody_else(query: str) -> None:
    answer, served = get(query)
    assert answer.status == 403
    assert "1158201444" not in json.dumps(answer.body)
    assert served.log.records == []


def test_the_signature_is_over_the_raw_bytes() -> None:
    """Other spaces, other escapes: the same JSON, and another signature."""
    raw = b'{ "object":"whatsapp_business_account",  "entry":[],"x":"\\u00e9 \xc3\xa9" }\r\n'

    async def work(served: Served) -> None:
        assert (await send(served, raw)).status == 200
        assert (await send(served, json.dumps(json.loads(raw)).encode(), signed(raw))).status == 401

    run(work)


@pytest.mark.parametrize(
    "forged",
    [
        {},
        {"X-Hub-Signature-256": ""},
        {"X-Hub-Signature-256": "sha256="},
        {"X-Hub-Signature-256": "sha256=" + "0" * 64},
        {"X-Hub-Signature-256": "sha256=" + "ä" * 64},
        {"X-Hub-Signature": "sha1=" + "0" * 40},
        signed(case(45), "another-secret"),
        signed(case(45) + b" "),
        {"X-Hub-Signature-256": signed(case(45))["X-Hub-Signature-256"].partition("=")[2]},
    ],
)
def test_nobody_else_is_read(forged: dict[str, str]) -> None:
    async def work(served: Served) -> None:
        headers = {name: value.encode().decode("latin-1") for name, value in forged.items()}
        assert (await send(served, case(45), headers)).status == 401

    assert run(work).log.records == []


def check(adapter: WhatsAppWebhook) -> list[tuple[str, str]]:
    return [(each.level, each.what) for each in asyncio.run(adapter.check())]


def test_a_check_says_what_is_missing_and_what_to_enter() -> None:
    def missing() -> str:
        raise PermanentSourceError("sources.whatsapp.shop.verify_token is not set")

    found = asyncio.run(WhatsAppWebhook("whatsapp.shop", missing, lambda: "f" * 32).check())
    assert [each.level for each in found] == ["problem", "ok", "ok"]
    assert found[0].what == "sources.whatsapp.shop.verify_token is not set"
    assert PATH in found[-1].what
    assert "smb_message_echoes" in found[-1].advice


def test_a_check_knows_an_access_token_from_a_secret() -> None:
    found = check(hook(app_secret="EAAG-an-access-token"))  # noqa: S106
    assert [level for level, _ in found] == ["ok", "ok", "warning", "ok"]
    assert "EAAG" not in str(found)
