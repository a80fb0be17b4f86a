"""The real pi coding agent, installed by `make agent`, driven without a model."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.commands import environment

PLACES = [
    Path(os.environ.get("AGENT_HOME", "~/.cache/session-triage/pi-agent")).expanduser() / "node_modules/.bin/pi",
]


def pi_command() -> str:
    """Give the agent's path; skips the test where it is not installed, and fails it in CI."""
    found = next((str(place) for place in PLACES if place.exists()), None) or shutil.which("pi")
    if found and shutil.which("node"):
        return found
    reason = "the pi coding agent is not installed: `make agent` (needs Node.js 20 and npm)"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def configure(home: Path, base_url: str) -> Path:
    """Point the agent at a model on loopback; gives its directory."""
    agent = home / ".pi" / "agent"
    agent.mkdir(parents=True, exist_ok=True)
    cost = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
    model = {"id": "m", "name": "m", "contextWindow": 32000, "maxTokens": 1000, "input": ["text"], "reasoning": False}
    provider = {"baseUrl": base_url, "api": "openai-completions", "apiKey": "x", "models": [{**model, "cost": cost}]}
    (agent / "models.json").write_text(json.dumps({"providers": {"local": provider}}))
    return agent


def prompt(pi: str, home: Path, workspace: Path, words: str, *arguments: str) -> None:
    """Let the agent work on one prompt to its end."""
    more = {"PI_OFFLINE": "1", "PI_CODING_AGENT_DIR": str(home / ".pi" / "agent")}
    subprocess.run(
        [pi, "--provider", "local", "--model", "m", *arguments, "-p", words],
        cwd=workspace, env=environment(home, **more), stdin=subprocess.DEVNULL, capture_output=True, check=True,
        timeout=120,
    )  # fmt: skip
