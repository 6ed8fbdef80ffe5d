# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kafka-live`` options, and errors about wrong options.

``kafka-log`` has the same options for topics and offsets, and its tests cover them.
"""

import pickle
import traceback
import warnings

import pytest

from kwire.client.property_names import OF_CONNECTIONS, OF_CONSUMERS
from kwire.spark.live.options import read_live_options
from kwire.spark.topics.option_names import LIVE_OPTIONS
from tests.spark.guide_tables import SPARK_REFUSES, SPARKS_OPTIONS, listed_options

_, HONOURED, IGNORED, REFUSED = LIVE_OPTIONS
PASSWORD = "s3cr3t-Kx9"
JAAS = (
    "org.apache.kafka.common.security.scram.ScramLoginModule required"
    f' username="reader" password="{PASSWORD}";'
)


def options(is_stream=False, **settings):
    basic = {"kafka.bootstrap.servers": "broker:9092", "subscribe": "orders"}
    return read_live_options({**basic, **settings}, is_stream)


def test_defaults_are_those_of_sparks_own_source():
    """The defaults are those of Spark's own source.

    A batch starts at the earliest offset, a stream at the latest, and losses are
    errors.
    """
    read = options()
    assert (read.starting, read.ending) == (
        ("offsets", "earliest"),
        ("offsets", "latest"),
    )
    assert options(is_stream=True).starting == ("offsets", "latest")
    assert read.isolation_level == "read_uncommitted" and read.fail_on_data_loss
    assert not read.include_headers and read.check_crc
    assert not options(FAILONDATALOSS="False").fail_on_data_loss


def test_guide_lists_the_effect_of_every_option():
    """The guide lists all options: those with an effect, ignored ones, rejected ones.

    Its lists equal the lists in the code.
    """
    guide = "spark/live.md"
    assert listed_options(guide, "Options") == sorted(HONOURED)
    assert listed_options(guide, "Ignored options") == sorted(IGNORED)
    assert listed_options(guide, "Refused options") == sorted(REFUSED)
    assert len({*HONOURED, *IGNORED, *REFUSED}) == sum(
        map(len, (HONOURED, IGNORED, REFUSED))
    )


def test_every_option_of_sparks_own_source_is_known():
    """Every option that Spark's own source reads is accepted.

    A job therefore only has to change the name of the format.
    """
    assert {*HONOURED, *IGNORED} >= SPARKS_OPTIONS
    assert REFUSED.keys() >= SPARK_REFUSES


def test_every_property_of_a_connection_is_an_option():
    """Every property that ``client.connect`` accepts is an option of the format."""
    assert {*HONOURED} >= {f"kafka.{name}" for name in (*OF_CONNECTIONS, *OF_CONSUMERS)}


@pytest.mark.parametrize("name", IGNORED)
def test_options_without_effect_on_rows_are_ignored(name):
    assert options(**{name.upper(): "whatever"}) == options()


@pytest.mark.parametrize("name", REFUSED)
def test_unsupported_options_are_rejected_with_an_alternative(name):
    with pytest.raises(ValueError, match="kafka-live does not support") as caught:
        options(**{name.upper(): "true"})
    assert name.upper() in str(caught.value) and REFUSED[name] in str(caught.value)


@pytest.mark.parametrize(
    "name", ["kafka.ssl.enabled.protocols", "kafka.sasl.login.class"]
)
def test_settings_of_security_are_followed_or_refused(name):
    """A security setting is applied, or raises an error.

    kwire must never use weaker security than the user has configured.
    """
    with pytest.raises(ValueError, match=f"has no option {name}: use kafka.sasl"):
        options(**{name: "x"})


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"kafka.bootstrap.servers": " "}, "requires brokers: give kafka.bootstrap"),
        ({"kafka.bootstrap.servers": "broker"}, "options kafka.* of kafka-live: "),
        ({"subscribePattern": "a.*"}, "subscribe and subscribePattern cannot be given"),
        ({"path": "logs"}, "kafka-live has no option 'path': "),
        ({"provider": "kafka-live"}, "cannot be a catalog table"),
        (
            {"kafka.security.protocol": "TLS"},
            "options kafka.* of kafka-live: security.protocol must be one of PLAINTEXT",
        ),
        ({"kafka.check.crcs": "maybe"}, "kafka.check.crcs must be true or false"),
        ({"kafka.default.api.timeout.ms": "1s"}, "must be a number"),
        ({"kafka.isolaton.level": "x"}, "did you mean kafka.isolation.level?"),
    ],
)
def test_wrong_options_are_errors_with_a_correction(settings, text):
    with pytest.raises(ValueError, match=r"\w") as caught:
        options(**settings)
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        (
            {
                "kafka.sasl.mechanism": "AWS_MSK_IAM",
                "kafka.sasl.client.callback.handler.class": "software.amazon.X",
            },
            "sasl.client.callback.handler.class must be IAMClientCallbackHandler",
        ),
        (
            {"kafka.sasl.mechanism": "OAUTHBEARER"},
            "OAUTHBEARER requires a token endpoint",
        ),
        ({"kafka.sasl.mechanism": "CRAM-MD5"}, "sasl.mechanism must be one of PLAIN"),
        (
            {
                "kafka.ssl.truststore.location": "trust.jks",
                "kafka.ssl.truststore.password": "s3cr3t",
            },
            "convert a JKS or PKCS12 store to PEM with: keytool -list -rfc",
        ),
        ({"kafka.ssl.keystore.type": "PKCS12"}, "openssl pkcs12 -in store.p12"),
    ],
)
def test_properties_that_spark_cannot_use_have_an_alternative(settings, text):
    """A property that Spark cannot use raises an error with an alternative.

    The alternative is never a function, because options cannot contain functions.
    """
    with pytest.raises(
        ValueError, match=r"^options kafka\.\* of kafka-live: "
    ) as caught:
        options(**{"kafka.security.protocol": "SASL_SSL", **settings})
    assert text in str(caught.value) and "sasl=" not in str(caught.value)
    assert "s3cr3t" not in str(caught.value)


@pytest.mark.parametrize(
    "limits",
    [
        {"maxOffsetsPerTrigger": "5"},
        {"MINOFFSETSPERTRIGGER": "5"},
        {"maxOffsetsPerTrigger": "5", "maxTriggerDelay": "1m"},
    ],
)
def test_limits_of_a_stream_are_named_if_a_batch_ignores_them(limits):
    """A batch ignores the limits of a stream, and warns about them.

    Spark's own source warns as well.
    """
    with pytest.warns(
        UserWarning, match="kafka-live ignores m.* in a batch"
    ) as warning_list:
        options(**limits)
    assert all(name.lower() in str(warning_list[0].message).lower() for name in limits)
    assert options(is_stream=True, **limits)


def test_no_option_of_the_client_shows_its_value_or_a_part_of_one():
    """No error or repr contains the value of a client option, or a part of it.

    All settings and names contain a secret in some form.
    """
    key = "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0waw\n"
    names = {*LIVE_OPTIONS.honoured, *LIVE_OPTIONS.ignored, *LIVE_OPTIONS.refused}
    failures = 0
    for secret in ("hunter2-Kx9", "wonderland", key):
        settings = [
            {name: secret}
            for name in sorted(names)
            if (name.startswith("kafka.") and "location" not in name) or secret is key
        ]
        settings += [
            {secret: "x"},
            {f"kafka.{secret}": "x"},
            {f"kafka.ssl.{secret}": "x"},
            {f"kafka.sasl.password{secret}": ""},
            {f"kafka.sasl.{secret}": "x"},
        ]
        for setting in settings:
            for protocol in ("PLAINTEXT", "SSL", "SASL_PLAINTEXT"):
                with warnings.catch_warnings(record=True) as warning_list:
                    warnings.simplefilter("always")
                    try:
                        read = options(
                            **{"kafka.security.protocol": protocol, **setting}
                        )
                    except (ValueError, OSError) as error:
                        shown_text = "".join(traceback.format_exception(error))
                        failures += 1
                    else:
                        shown_text = repr(read) if "kafka." in str(setting) else ""
                shown_text += "".join(str(warning.message) for warning in warning_list)
                for piece in ("hunter2-Kx9", "wonderland", "MIGHAgEA"):
                    # Addresses and topics are shown, unless they contain the secret.
                    assert piece not in shown_text, (setting, shown_text)
    assert failures > 100


def test_topics_are_required():
    with pytest.raises(ValueError, match="requires topics: give subscribe, subscribeP"):
        read_live_options({"kafka.bootstrap.servers": "broker:9092"})


def test_settings_go_to_the_client_by_their_own_names():
    read = options(
        **{
            "kafka.bootstrap.servers": "a:1,b:2",
            "KAFKA.CLIENT.ID": "nightly",
            "kafka.request.timeout.ms": "7000",
            "kafka.default.api.timeout.ms": "9000",
            "kafka.client.rack": "west",
            "kafka.check.crcs": "false",
            "maxBatchBytes": "200m",
        }
    )
    kafka = read.cluster.connect()
    assert kafka.addresses == [("a", 1), ("b", 2)] and not read.check_crc
    settings = kafka.settings
    assert (settings.client_id, settings.timeout_s) == ("nightly", 9.0)
    assert settings.request_timeout_s == 7.0
    assert settings.limits.frame_bytes == 200 << 20


def test_no_repr_and_no_error_shows_a_secret():
    """No error and no repr contains a secret, even if the option has a wrong value.

    Only pickles contain secrets, because the workers need them.
    """
    secret = {
        "kafka.security.protocol": "SASL_PLAINTEXT",
        "kafka.sasl.mechanism": "SCRAM-SHA-256",
        "kafka.sasl.jaas.config": JAAS,
    }
    read = options(**secret)
    assert PASSWORD not in repr(read) and "broker:9092" in repr(read)
    assert pickle.loads(pickle.dumps(read)) == read
    assert read.cluster.connect().settings.new_mechanism is not None
    for wrong in (
        {"kafka.sasl.jaas.config": f"required password={PASSWORD}"},
        {"kafka.sasl.mechanism": "PLAIN"},
        {"kafka.sasl.jaas.config": f"a.ScramLoginModule required password={PASSWORD}"},
        {"kafka.ssl.key.passwd": PASSWORD},
    ):
        with pytest.raises(ValueError, match=r"\w") as caught:
            options(**{**secret, **wrong})
        assert PASSWORD not in str(caught.value)
