"""Promise: sessions are found wherever pi and its forks put them, and matched to a workspace by their headers."""

import json
import os
from pathlib import Path

import pytest

from adapters.sessions.pi_roots import default_roots, sessions_of_workspace, workspace_roots
from tests.support.pi import HEADER, file_of, user


def session(path: Path, cwd: object, mtime: int = 1_000) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(file_of({**HEADER, "cwd": cwd}, user("u", None, "a")))
    os.utime(path, (mtime, mtime))
    return path


def test_the_usual_places(tmp_path: Path) -> None:
    """2.1: pi's and Oh My Pi's folders, whether they exist yet or not (B18)."""
    assert set(default_roots({}, tmp_path)) == {tmp_path / ".pi/agent/sessions", tmp_path / ".omp/agent/sessions"}


def test_places_from_the_environment(tmp_path: Path) -> None:
    """2.1: agent and session folders; forks put their own name before the variables."""
    environ = {
        "PI_CODING_AGENT_DIR": "/srv/pi",
        "PI_CODING_AGENT_SESSION_DIR": "~/mine",
        "TAU_CODING_AGENT_DIR": "/srv/tau",
        "NOT_A_CODING_AGENT_DIRECTORY": "/srv/other",
        "PATH": "/bin",
    }
    found = set(default_roots(environ, tmp_path))
    assert {Path("/srv/pi/sessions"), tmp_path / "mine", Path("/srv/tau/sessions")} < found
    assert not [root for root in found if "other" in str(root)]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (b'{"sessionDir": "/srv/kept"}', "/srv/kept"),
        (b'{"sessionDir": "relative/to/nowhere"}', None),
        (b'{"sessionDir": 5}', None),
        (b'{"sessionDir": "/a\\u0000b"}', None),
        (b"[1]", None),
        (b"{broken", None),
        (b"\xff\xfe", None),
        (b"[" * 100_000, None),
    ],
)
def test_the_session_folder_in_the_settings(settings: bytes, expected: str | None, tmp_path: Path) -> None:
    """2.1: read tolerantly; a relative folder is relative to nobody knows what."""
    agent = tmp_path / ".pi/agent"
    agent.mkdir(parents=True)
    (agent / "settings.json").write_bytes(settings)
    extra = set(default_roots({}, tmp_path)) - {agent / "sessions", tmp_path / ".omp/agent/sessions"}
    assert extra == ({Path(expected)} if expected else set())


def test_session_files_beside_the_folder_are_given_one_by_one(tmp_path: Path) -> None:
    """2.1: pi 0.30.0 wrote into the agent folder itself; its other contents are none of our business."""
    agent = tmp_path / ".pi/agent"
    stray = session(agent / "2025-12-26T00-00-00-000Z_x.jsonl", "/w")
    session(agent / "cache" / "other.jsonl", "/w")
    roots = default_roots({}, tmp_path)
    assert stray in roots
    assert agent not in roots


def test_a_workspace_may_hold_its_own(tmp_path: Path) -> None:
    assert workspace_roots(tmp_path) == [tmp_path / ".sandbox/pi-agent/sessions"]


def test_sessions_of_a_workspace_are_found_by_their_headers(tmp_path: Path) -> None:
    """B14: `/a/b-c` and `/a-b/c` share a directory key; the one written last comes first."""
    root = tmp_path / "sessions"
    older = session(root / "--a-b-c--" / "1_x.jsonl", "/a/b-c", 1_000)
    session(root / "--a-b-c--" / "2_y.jsonl", "/a-b/c", 2_000)
    newer = session(root / "--a-b-c--" / "0_z.jsonl", "/a/b-c/", 3_000)
    nested = session(root / "deep" / "sub" / "w.jsonl", "/a/b-c", 500)
    assert sessions_of_workspace([root], Path("/a/b-c")) == [newer, older, nested]
    assert len(sessions_of_workspace([root], Path("/a-b/c"))) == 1


@pytest.mark.parametrize("cwd", [None, "", 5, "/elsewhere", "/a\0b"])
def test_sessions_without_the_directory_do_not_belong(cwd: object, tmp_path: Path) -> None:
    """E7: no directory is no workspace, and surely not the current one."""
    session(tmp_path / "s" / "x.jsonl", cwd)
    assert sessions_of_workspace([tmp_path / "s"], Path("/w")) == []
    assert sessions_of_workspace([tmp_path / "s"], Path()) == []


def test_a_workspace_is_the_same_through_a_symbolic_link(tmp_path: Path) -> None:
    real, alias = tmp_path / "real", tmp_path / "alias"
    real.mkdir()
    alias.symlink_to(real)
    found = session(tmp_path / "s" / "x.jsonl", str(alias))
    assert sessions_of_workspace([tmp_path / "s"], real) == [found]


def test_files_that_are_no_sessions_are_passed_over(tmp_path: Path) -> None:
    """E13, E14: broken, foreign, unreadable and vanished files cost nothing; other names do not count."""
    root = tmp_path / "s"
    found = session(root / "x.jsonl", "/w")
    session(root / "x.jsonl.bak", "/w")
    session(root / ".hidden.jsonl", "/w")
    session(root / "x.txt", "/w")
    (root / "broken.jsonl").write_bytes(b"{broken")
    (root / "other.jsonl").write_bytes(json.dumps({"cwd": "/w"}).encode())
    (root / "dangling.jsonl").symlink_to(root / "nowhere")
    assert sessions_of_workspace([root, tmp_path / "absent"], Path("/w")) == [found]


def test_a_long_header_is_read(tmp_path: Path) -> None:
    """E4."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(file_of({"type": "session", "metadata": "x" * 1_000_000, **HEADER}))
    assert sessions_of_workspace([tmp_path], Path("/w")) == [path]
