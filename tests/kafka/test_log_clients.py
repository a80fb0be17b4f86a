"""Settings become the library's arguments; secrets are read late, and appear nowhere."""

import asyncio
import ssl
import subprocess

import pytest

from ingest.log.contract import LogError
from ingest.log.kafka import client
from ingest.log.kafka.client import client_arguments, consumer_arguments, producer_arguments
from ingest.log.kafka.errors import TokenError, explain
from ingest.settings import load
from ingest.settings_errors import SettingsError
from ingest.settings_kafka import KafkaSettings


def test_without_settings_it_is_a_broker_on_this_machine():
    arguments = client_arguments(KafkaSettings())
    assert arguments["bootstrap_servers"] == ["localhost:9092"]
    assert arguments["security_protocol"] == "PLAINTEXT"
    assert "ssl_context" not in arguments
    assert "sasl_mechanism" not in arguments


def test_what_a_writer_and_a_reader_must_have():
    producer = producer_arguments(KafkaSettings(), "id")
    assert producer["transactional_id"] == "id"
    assert producer["compression_type"] == "zstd"
    assert producer_arguments(KafkaSettings(compression="none"), "id")["compression_type"] is None
    consumer = consumer_arguments(KafkaSettings())
    assert consumer["isolation_level"] == "read_committed"
    assert consumer["enable_auto_commit"] is False


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_a_user_and_a_password(mechanism):
    user = {"username": "u", "password": "s3cret"}
    settings = KafkaSettings(security_protocol="SASL_PLAINTEXT", sasl_mechanism=mechanism, **user)
    arguments = client_arguments(settings)
    assert arguments["sasl_mechanism"] == mechanism
    assert (arguments["sasl_plain_username"], arguments["sasl_plain_password"]) == ("u", "s3cret")
    assert "s3cret" not in repr(settings)
    assert "s3cret" not in settings.model_dump_json()


def test_a_password_is_read_from_its_file_each_time(tmp_path):
    file = tmp_path / "password"
    settings = KafkaSettings(security_protocol="SASL_PLAINTEXT", username="u", password_file=file)
    for secret in ("one", "two"):
        file.write_text(f"{secret}\n")
        assert client_arguments(settings)["sasl_plain_password"] == secret


def test_a_token_is_read_from_its_file_each_time(tmp_path):
    file = tmp_path / "token"
    settings = KafkaSettings(security_protocol="SASL_PLAINTEXT", sasl_mechanism="OAUTHBEARER", oauth_token_file=file)
    provider = client_arguments(settings)["sasl_oauth_token_provider"]
    for token in ("one", "two"):
        file.write_text(token)
        assert asyncio.run(provider.token()) == token
    file.write_bytes(b"\xff")
    with pytest.raises(TokenError, match=r"a secret is|UTF-8"):
        asyncio.run(provider.token())


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"username": "u"}, "needs kafka.username, and kafka.password"),
        ({"password": "p"}, "needs kafka.username, and kafka.password"),
        ({"username": "u", "password": "p", "password_file": "/p"}, "both set"),
        ({"username": "u", "password_file": "/none"}, "/none: No such file"),
        ({"sasl_mechanism": "OAUTHBEARER"}, "needs kafka.oauth_token_file"),
    ],
)
def test_what_contradicts_itself_is_named(settings, words):
    with pytest.raises(LogError, match=words):
        client_arguments(KafkaSettings(security_protocol="SASL_PLAINTEXT", **settings))


def test_an_empty_secret_is_none(tmp_path):
    (tmp_path / "p").write_text("\n")
    settings = KafkaSettings(security_protocol="SASL_PLAINTEXT", username="u", password_file=tmp_path / "p")
    with pytest.raises(LogError, match="a secret is"):
        client_arguments(settings)


def test_tls_trusts_who_it_is_told_to_and_shows_itself(tmp_path):
    certificate, key = tmp_path / "c.pem", tmp_path / "k.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=t", "-days", "1", "-keyout", key,
         "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    settings = KafkaSettings(security_protocol="SSL", ca_file=certificate, cert_file=certificate, key_file=key)
    context = client_arguments(settings)["ssl_context"]
    assert isinstance(context, ssl.SSLContext)
    assert context.check_hostname
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert len(context.get_ca_certs()) == 1


@pytest.mark.parametrize(
    ("files", "words"),
    [({"ca_file": "/none"}, "/none cannot be used"), ({"cert_file": "/c"}, "belong together")],
)
def test_certificates_that_cannot_be_used_are_named(files, words):
    with pytest.raises(LogError, match=words):
        client_arguments(KafkaSettings(security_protocol="SSL", **files))


def test_settings_of_the_library_are_passed_through_and_others_refused():
    arguments = client_arguments(KafkaSettings(client={"request_timeout_ms": 5, "client_id": "mine"}))
    assert (arguments["request_timeout_ms"], arguments["client_id"]) == (5, "mine")
    for wrong in ({"loop": 1}, {"request_timeout_ms": "5"}, {"request_timeout_ms": True}, "[1]", 3):
        with pytest.raises(ValueError, match="a table of client_id"):
            KafkaSettings(client=wrong)


@pytest.mark.parametrize("servers", ["a:1,b:2", '["a:1", "b:2"]', ["a:1", " b:2 "]])
def test_brokers_come_as_a_list_or_with_commas(servers):
    assert KafkaSettings(bootstrap_servers=servers).bootstrap_servers == ["a:1", "b:2"]
    assert KafkaSettings(bootstrap_servers="[::1]:9092").bootstrap_servers == ["[::1]:9092"]


@pytest.mark.parametrize("servers", ["", "a", "a:", "a:1,", "http://a:1/", [], [3]])
def test_what_is_no_broker_is_refused(servers):
    with pytest.raises(ValueError, match='brokers as "host:port"'):
        KafkaSettings(bootstrap_servers=servers)


def test_a_wrong_secret_is_not_shown(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("PASSWORD", "KEY_PASSWORD"):
        monkeypatch.setenv(f"SESSION_INGEST__KAFKA__{name}", "s3cret\x01")
        with pytest.raises(SettingsError) as caught:
            load()
        assert "s3cret" not in str(caught.value)
        monkeypatch.delenv(f"SESSION_INGEST__KAFKA__{name}")


def test_a_compression_without_its_package_is_named(monkeypatch):
    monkeypatch.setitem(client._CODECS, "zstd", lambda: False)
    with pytest.raises(LogError, match=r"zstd needs cramjam: pip install 'session-triage\[kafka\]'"):
        producer_arguments(KafkaSettings(), "id")


def test_an_error_of_the_librarys_background_work_tells_its_cause():
    from aiokafka.errors import KafkaConnectionError, KafkaError  # noqa: PLC0415 - only here

    wrapped = KafkaError("inside")
    wrapped.__cause__ = KafkaConnectionError("gone")
    assert "no broker answers: Kafka at localhost:9092, appending" in str(
        explain(wrapped, KafkaSettings(), "appending")
    )
