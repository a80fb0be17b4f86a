"""`sources list` names every source; `sources check` says in words a person can act on whether each would work.

Neither reads, confirms or changes anything, and no secret is ever printed.
"""

import asyncio
import json
import os
import time

import pytest

from ingest.commands.sources.check import _check
from ingest.settings import Settings
from ingest.sources import ConfiguredSource
from tests.support.daemon import Home, eventually, session_file, texts_by_thread

TOKEN = "a-token-of-enough-characters"  # noqa: S105 - of a daemon that lives for one test
CUSTOM = "SESSION_INGEST__SOURCES__CUSTOM__MAIN__"


@pytest.fixture
def home(tmp_path):
    home = Home(tmp_path)
    yield home
    home.close()


def check(home, *names) -> tuple[int, dict[str, list[dict]]]:
    result = home.command("sources", "check", *names, "--json")
    assert TOKEN not in result.stdout + result.stderr
    return result.returncode, json.loads(result.stdout)


def words(findings, level=None) -> str:
    return "\n".join(f["what"] + " " + f["advice"] for f in findings if level in (None, f["level"]))


def test_every_source_is_listed_with_its_state_and_place(home):
    home.variables[f"{CUSTOM}TOKEN"] = TOKEN
    listed = {source["name"]: source for source in json.loads(home.command("sources", "list", "--json").stdout)}
    assert list(listed) == ["pi", "claude_code", "codex", "drop", "custom.main"]
    assert (listed["codex"]["state"], listed["codex"]["enabled"]) == ("off", False)
    assert listed["pi"]["state"] is None, "nobody runs who could say"
    assert listed["custom.main"]["places"] == ["POST /v1/events"]
    assert not home.state.exists(), "asking makes nothing"


def test_a_running_daemon_tells_the_states(home):
    file = session_file(home, 1)
    file.append(1)
    home.start()
    eventually(lambda: texts_by_thread(home) == {file.session: file.texts})
    text = home.command("sources", "list").stdout
    assert "running" in text or "idle" in text
    status, found = check(home, "pi")
    assert status == 0
    assert "1 session files" in words(found["pi"])
    assert "1 events so far" in words(found["pi"])
    assert "the running daemon follows it" in words(found["pi"])


def test_all_that_are_on_are_checked_when_none_is_named(home):
    status, found = check(home)
    assert (status, list(found)) == (0, ["pi", "drop"])


def test_a_name_that_is_no_source_is_wrong_usage(home):
    result = home.command("sources", "check", "telegram")
    assert result.returncode == 2
    assert "there are: pi, claude_code, codex, drop" in result.stderr


def test_a_source_that_is_off_is_looked_at_and_told_to_be_off(home):
    status, found = check(home, "codex")
    assert status == 0
    assert "set enabled = true in [sources.codex]" in words(found["codex"], "warning")
    assert "is not there" in words(found["codex"], "warning")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_cannot_be_read_is_named(home):
    path = session_file(home, 1).path
    path.chmod(0)
    status, found = check(home, "pi")
    assert status == 1
    assert "Permission denied" in words(found["pi"], "problem")
    assert path.name in words(found["pi"], "problem")


def test_a_drop_folder_that_is_a_file_is_a_problem(home):
    (home.path / "session-triage-drop").write_text("")
    status, found = check(home, "drop")
    assert status == 1
    assert "is no folder" in words(found["drop"], "problem")


def test_files_about_to_be_deleted_are_told(home):
    path = home.path / ".claude" / "projects" / "-w" / "s.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("{}\n")
    os.utime(path, (time.time() - 40 * 86_400,) * 2)
    assert "Claude Code will delete 1 unread session file" in words(check(home, "claude_code")[1]["claude_code"])


@pytest.mark.parametrize(("variables", "problem"), [
    ({}, "sources.custom.main.token is not set; set it, or sources.custom.main.token_file"),
    ({"TOKEN": "short"}, "has 5 characters and can be guessed"),
    ({"TOKEN": TOKEN, "TOKEN_FILE": "/x"}, "are both set: which one counts?"),
    ({"TOKEN_FILE": "/nowhere/token"}, "/nowhere/token: No such file or directory"),
])  # fmt: skip
def test_a_credential_that_is_missing_or_bad_is_a_problem(home, variables, problem):
    home.variables |= {CUSTOM + name: value for name, value in {"ENABLED": "true", **variables}.items()}
    status, found = check(home, "custom.main")
    assert status == 1
    assert problem in words(found["custom.main"], "problem")


class Broken:
    """An adapter whose library puts the token into its errors, as addresses of bots hold it."""

    name = "broken"

    async def check(self):
        raise OSError(f"cannot reach https://api.example/bot{TOKEN}/getMe")

    def captures(self, checkpoints):
        raise NotImplementedError


def test_an_unexpected_error_shows_no_words_of_a_library():
    source = ConfiguredSource("broken", True, [], Broken)
    findings = asyncio.run(_check(Settings(), source))
    assert [(each.level, each.what) for each in findings] == [
        ("problem", "the check failed with an unexpected OSError")
    ]


def test_a_door_is_asked_at_the_running_daemon(home):
    home.variables[f"{CUSTOM}TOKEN"] = TOKEN
    status, found = check(home, "custom.main")
    assert status == 0
    assert "no daemon runs" in words(found["custom.main"], "warning")
    home.start()
    status, found = check(home, "custom.main")
    assert status == 0
    assert f"the running daemon answers at {home.url}/v1/events" in words(found["custom.main"], "ok")
    assert "senders on this machine reach it, others do not" in words(found["custom.main"], "ok")


def test_a_daemon_with_other_settings_is_told_from_one_that_works(home):
    home.start()
    home.variables[f"{CUSTOM}TOKEN"] = TOKEN
    status, found = check(home, "custom.main")
    assert status == 1
    assert "does not know /v1/events restart it" in words(found["custom.main"], "problem")


def test_a_source_that_the_daemon_cannot_follow_is_a_problem_with_its_reason(home):
    home.variables[f"{CUSTOM}TOKEN_FILE"] = str(home.path / "token")
    home.start(wait=False)
    eventually(lambda: home.url and "failed" in home.command("sources", "list").stdout)
    status, found = check(home, "custom.main")
    assert status == 1
    assert "the running daemon: failed:" in words(found["custom.main"], "problem")


def test_without_http_nothing_can_arrive(home):
    home.variables |= {f"{CUSTOM}TOKEN": TOKEN, "SESSION_INGEST__HTTP__ENABLED": "false"}
    status, found = check(home, "custom.main")
    assert status == 1
    assert "the HTTP server is switched off" in words(found["custom.main"], "problem")


def test_an_open_address_without_tls_is_a_warning(home):
    home.variables |= {f"{CUSTOM}TOKEN": TOKEN, "SESSION_INGEST__HTTP__HOST": "0.0.0.0"}  # noqa: S104 - not opened
    assert "without TLS" in words(check(home, "custom.main")[1]["custom.main"], "warning")


def test_people_read_one_line_a_finding_and_what_to_do(home):
    text = home.command("sources", "check", "pi", "claude_code").stdout
    assert "pi\n  ok       no session files yet\n" in text or "pi\n  warning" in text
    assert "           set enabled = true in [sources.claude_code]\n" in text
