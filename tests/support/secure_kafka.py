"""A node that asks who one is: TLS with SASL by every mechanism, TLS with a client's certificate, and a wrong name."""

import base64
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.support.certificates import Certificate, authority, vouched
from tests.support.kafka import Broker, Listener, free_ports

USER: Final = "alice"
PASSWORD: Final = "s3cret-of-alice"  # noqa: S105 - of a node that lives as long as a test
MECHANISMS: Final = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")

_MODULE: Final = "org.apache.kafka.common.security"
_LOGIN: Final = {
    "plain.sasl.jaas.config": f'{_MODULE}.plain.PlainLoginModule required user_{USER}="{PASSWORD}";',
    "scram-sha-256.sasl.jaas.config": f"{_MODULE}.scram.ScramLoginModule required;",
    "scram-sha-512.sasl.jaas.config": f"{_MODULE}.scram.ScramLoginModule required;",
    "oauthbearer.sasl.jaas.config": (
        f'{_MODULE}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";'
    ),
    "sasl.enabled.mechanisms": ",".join(MECHANISMS),
}
"""Source: Kafka's documentation, "Authentication using SASL". Its own OAuth check takes tokens without a signature."""


@dataclass(frozen=True)
class SecureBroker:
    """The node; ports are those of its listeners, `ca` vouches for it and for `client`, `stranger` for nobody."""

    broker: Broker
    sasl_port: int
    mutual_port: int
    misnamed_port: int
    ca: Certificate
    stranger: Certificate
    client: Certificate


@contextmanager
def secure_broker(folder: Path) -> Iterator[SecureBroker]:
    """Make certificates and run a node with them."""
    made = folder / "certificates"
    ca, stranger = authority(made, "ca"), authority(made, "stranger")
    node = vouched(made, "node", ca, "DNS:localhost", "IP:127.0.0.1")
    elsewhere = vouched(made, "elsewhere", ca, "DNS:kafka.example.org")
    client = vouched(made, "client", ca)
    sasl, mutual, misnamed = free_ports(3)
    trust = {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(ca.cert), "ssl.client.auth": "required"}
    listeners = [
        Listener("SASL", sasl, "SASL_SSL", properties={**_store(node), **_LOGIN}),
        Listener("MUTUAL", mutual, "SSL", properties={**_store(node), **trust}),
        Listener("MISNAMED", misnamed, "SASL_SSL", properties={**_store(elsewhere), **_LOGIN}),
    ]
    with Broker(folder / "kafka", listeners=listeners, scram_users={USER: PASSWORD}) as broker:
        yield SecureBroker(broker, sasl, mutual, misnamed, ca, stranger, client)


def _store(certificate: Certificate) -> dict[str, str]:
    return {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(certificate.both)}


def unsigned_token(subject: str, lifetime_s: float = 3600) -> str:
    """Give a token that nobody has signed. Source: RFC 7515, section 6 of appendix A ("alg": "none")."""
    now = time.time()
    parts = {"alg": "none"}, {"sub": subject, "iat": now, "exp": now + lifetime_s}
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts) + "."
