"""Certificates for tests, made by `openssl`: authorities, and what they vouch for, as PEM files."""

import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Certificate:
    """A certificate and its key; `both` is a file with the two of them, as a server's key store has it."""

    cert: Path
    key: Path
    both: Path


def authority(folder: Path, name: str) -> Certificate:
    """Make a certificate authority."""
    extensions = ("basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign")
    return _made(folder, name, "-x509", *(part for each in extensions for part in ("-addext", each)))


def vouched(folder: Path, name: str, by: Certificate, *names: str) -> Certificate:
    """Make a certificate for these names, such as `DNS:localhost` or `IP:127.0.0.1`."""
    held = ["-addext", f"subjectAltName={','.join(names)}"] if names else []
    return _made(folder, name, "-x509", "-CA", str(by.cert), "-CAkey", str(by.key), *held)


def _made(folder: Path, name: str, *arguments: str) -> Certificate:
    folder.mkdir(parents=True, exist_ok=True)
    cert, key, both = (folder / f"{name}.{kind}" for kind in ("pem", "key", "both"))
    subprocess.run(
        ["openssl", "req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-days", "2", *arguments,
         "-keyout", key, "-out", cert],
        check=True, capture_output=True,
    )  # fmt: skip
    both.write_bytes(key.read_bytes() + cert.read_bytes())
    return Certificate(cert, key, both)
