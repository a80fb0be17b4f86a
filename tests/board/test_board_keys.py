"""API keys: shown once, kept as digests, and never more than what their maker said."""

from pathlib import Path

import pytest

from tests.support.board import ANA, Project
from tests.support.triage import Home
from triage.board.actors import KeySettingError, actor_of, local_operator, new_key
from triage.board.model import Actor, ActorKind
from triage.board.refusals import Refusal, RefusedError

VARIABLE, FILE_VARIABLE = "SESSION_TRIAGE_API_KEY", "SESSION_TRIAGE_API_KEY_FILE"


def add(project: Project, actor: Actor = ANA) -> str:
    key = new_key()
    with project.store.write() as repository:
        repository.keys.add(key, actor, 1)
    return key


def test_without_a_key_it_is_who_is_logged_in(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the account: what the environment says of the name does not count."""
    for name in ("USER", "LOGNAME", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, "somebody-else")
    actor = actor_of(project.store, {})
    assert actor == local_operator()
    assert (actor.kind, actor.name == "somebody-else") == (ActorKind.OPERATOR, False)


@pytest.mark.parametrize("kind", [ActorKind.AGENT, ActorKind.OPERATOR])
def test_a_key_says_who_and_what(project: Project, tmp_path: Path, kind: ActorKind) -> None:
    key = add(project, Actor("somebody", kind))
    file = tmp_path / "key"
    file.write_text(key + "\n")
    assert actor_of(project.store, {VARIABLE: key}) == Actor("somebody", kind)
    assert actor_of(project.store, {FILE_VARIABLE: str(file)}) == Actor("somebody", kind)


@pytest.mark.parametrize("wrong", ["st-guess", "null", "ana", "' OR 1=1 --", "st-" + "A" * 5000])
def test_a_wrong_key_is_refused_and_makes_nobody_an_operator(project: Project, wrong: str) -> None:
    add(project)
    with pytest.raises(RefusedError) as caught:
        actor_of(project.store, {VARIABLE: wrong})
    assert caught.value.reason is Refusal.UNKNOWN_KEY


@pytest.mark.parametrize(
    ("environment", "says"),
    [
        ({VARIABLE: ""}, "the key is empty"),
        ({VARIABLE: "  \n"}, "the key is empty"),
        ({VARIABLE: "a", FILE_VARIABLE: "b"}, "not both"),
        ({FILE_VARIABLE: "/nowhere/key"}, "No such file"),
        ({FILE_VARIABLE: "/"}, "Is a directory"),
        ({FILE_VARIABLE: "/dev/null"}, "the key is empty"),
    ],
)
def test_a_key_that_cannot_be_read_makes_nobody_an_operator(
    project: Project, environment: dict[str, str], says: str
) -> None:
    with pytest.raises(KeySettingError, match=says):
        actor_of(project.store, environment)


def test_keys_are_long_random_and_not_kept(project: Project) -> None:
    keys = {add(project) for _ in range(20)}
    assert len(keys) == 20
    assert all(len(key) >= 43 and key.startswith("st-") for key in keys)
    project.close()
    stored = b"".join(path.read_bytes() for path in project.folder.glob("triage.db*"))
    assert not any(key.encode() in stored or key[3:].encode() in stored for key in keys)


def test_the_commands_show_a_key_once_and_revoke_it(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    made = home.start("board", "keys", "add", "bot")
    key, fingerprint = made.stdout.strip(), made.stderr.split()[2]
    assert made.status == 0
    assert "bot (agent)" in made.stderr
    listed = home.start("board", "keys", "list")
    assert fingerprint in listed.stdout
    assert key not in listed.stdout + made.stderr
    home.environment[VARIABLE] = key
    assert home.run("board", "list").status == 0
    assert home.start("board", "keys", "revoke", fingerprint).status == 1
    del home.environment[VARIABLE]
    assert home.start("board", "keys", "revoke", fingerprint[:6]).status == 0
    assert "revoked" in home.start("board", "keys", "list").stdout
    home.environment[VARIABLE] = key
    refused = home.run("board", "list")
    assert (refused.status, "unknown-key" in refused.stderr) == (1, True)
