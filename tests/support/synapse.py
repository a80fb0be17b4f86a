"""A real Matrix homeserver for tests: one Synapse on loopback that can be killed, paused and started again.

It runs in a virtual environment of its own, from `make synapse`: a program under another licence beside the tests, of
which nothing is imported or shipped. Where it is missing the tests that need it are skipped, and fail in CI. Source:
section 3.5 of the chat platform notes; Synapse's configuration manual.
"""

import base64
import hashlib
import hmac
import json
import os
import subprocess
import time
import uuid
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.matrix import Person, called
from tests.support.served import answers, free_port
from tests.support.server_process import ServerProcess

SYNAPSE: Final = Path(os.environ.get("SYNAPSE_HOME", "~/.cache/session-triage/synapse")).expanduser()

SERVER: Final = "localhost"
"""The server's name, which the ids of users end with."""

PASSWORD: Final = "a-password-of-tests"  # noqa: S105 - of accounts that live as long as the tests

START_SECONDS: Final = 120.0
"""It answers after 3 seconds on an idle machine, and after 7 the first time; a busy one takes its time."""

_SHARED_SECRET: Final = "lets-tests-register"  # noqa: S105 - of a server that lives as long as the tests
_UNLIMITED: Final = {"per_second": 10_000, "burst_count": 10_000}


def missing_synapse() -> str | None:
    """Why no Synapse can run here, and what to do; None where one can."""
    return None if (SYNAPSE / "bin" / "synapse_homeserver").exists() else "Synapse is not there: `make synapse`"


def require_synapse() -> None:
    """Skip the test where no Synapse can run, and fail it in CI."""
    reason = missing_synapse()
    if reason and os.environ.get("CI") == "true":
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)


class Homeserver(ServerProcess):
    """One server; its port and its data outlive a restart. It is its own context manager."""

    def __init__(self, folder: Path) -> None:
        """`folder` takes its data and its log."""
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        super().__init__()
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in (("homeserver.yaml", _settings(folder, self.port)), ("log.json", _logging(folder))):
            (folder / name).write_text(json.dumps(content, indent=1))  # which is YAML too
        seed = base64.b64encode(os.urandom(32)).decode().rstrip("=")
        (folder / "signing.key").write_text(f"ed25519 a_test {seed}\n")

    def start(self) -> None:
        """Start, and wait until it answers."""
        command = [SYNAPSE / "bin" / "python", "-m", "synapse.app.homeserver", "-c", self.folder / "homeserver.yaml"]
        with (self.folder / "output").open("ab") as output:
            self._process = subprocess.Popen(command, cwd=self.folder, stdout=output, stderr=output)
        end = time.monotonic() + START_SECONDS
        while not answers(f"{self.url}/_matrix/client/versions"):
            assert self.running, (self.folder / "output").read_text()[-4000:]
            assert time.monotonic() < end, "it does not answer"
            time.sleep(0.05)

    def person(self, name: str) -> Person:
        """Register an account that nobody else has, and log it in; `name` is how its id begins.

        Source: Synapse's "Shared-Secret Registration".
        """
        register = f"{self.url}/_synapse/admin/v1/register"
        nonce = called("GET", register)["nonce"]
        user = f"{name}-{uuid.uuid4().hex[:8]}"
        told = b"\0".join(each.encode() for each in (nonce, user, PASSWORD, "notadmin"))
        mac = hmac.new(_SHARED_SECRET.encode(), told, hashlib.sha1).hexdigest()
        body = {"nonce": nonce, "username": user, "password": PASSWORD, "admin": False, "mac": mac}
        made = called("POST", register, body)
        return Person(self.url, made["user_id"], made["access_token"], made["device_id"])


def _settings(folder: Path, port: int) -> dict[str, Any]:
    """On loopback alone, for clients alone, without limits and without what nobody looks at."""
    listener = {
        "port": port, "bind_addresses": ["127.0.0.1"], "type": "http", "tls": False, "x_forwarded": False,
        "resources": [{"names": ["client"], "compress": False}],
    }  # fmt: skip
    return {
        "server_name": SERVER,
        "pid_file": str(folder / "homeserver.pid"),
        "listeners": [listener],
        "database": {"name": "sqlite3", "args": {"database": str(folder / "homeserver.db")}},
        "log_config": str(folder / "log.json"),
        "media_store_path": str(folder / "media"),
        "signing_key_path": str(folder / "signing.key"),
        "registration_shared_secret": _SHARED_SECRET,
        "macaroon_secret_key": "of-tests",
        "form_secret": "of-tests",
        "report_stats": False,
        "trusted_key_servers": [],
        "suppress_key_server_warning": True,
        "federation_domain_whitelist": [],
        "presence": {"enabled": False},
        "push": {"enabled": False},
        "stats": {"enabled": False},
        "user_directory": {"enabled": False},
        "url_preview_enabled": False,
        "bcrypt_rounds": 4,
        # An old `since` asked again would be answered as before for two minutes, whatever was said meanwhile.
        "caches": {"sync_response_cache_duration": "0s"},
        "rc_message": _UNLIMITED,
        "rc_registration": _UNLIMITED,
        "rc_admin_redaction": _UNLIMITED,
        "rc_room_creation": _UNLIMITED,
        "rc_joins": {"local": _UNLIMITED, "remote": _UNLIMITED},
        "rc_joins_per_room": _UNLIMITED,
        "rc_invites": dict.fromkeys(("per_room", "per_user", "per_issuer"), _UNLIMITED),
        "rc_login": dict.fromkeys(("address", "account", "failed_attempts"), _UNLIMITED),
    }


def _logging(folder: Path) -> dict[str, Any]:
    """Warnings into a file; one may look there after a test has failed."""
    file = {"class": "logging.FileHandler", "filename": str(folder / "homeserver.log")}
    root = {"level": "WARNING", "handlers": ["file"]}
    return {"version": 1, "handlers": {"file": file}, "root": root, "disable_existing_loggers": False}
