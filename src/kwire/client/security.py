# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Combines the properties of TLS and SASL with the arguments ``ssl`` and ``sasl``.

If two settings contradict each other, the functions raise ``ValueError`` with the names
of both. Ignoring one of them could send a password without TLS. Errors never show the
value of a property.
"""

from __future__ import annotations

import os
import re
from functools import partial
from typing import TYPE_CHECKING, Any

from .certificate_files import FileContext
from .sasl_mechanisms import MECHANISMS, SETTING_PROPERTIES
from .shown_texts import hide_path, is_pem

if TYPE_CHECKING:
    import ssl as tls
    from collections.abc import Callable, Mapping

    from .sasl_mechanisms import SaslMechanism

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")

_TEXTS_OF_FILES = {
    "ssl.ca.location": "ssl.ca.pem",
    "ssl.truststore.location": "ssl.truststore.certificates",
    "ssl.keystore.location": "ssl.keystore.certificate.chain and ssl.keystore.key",
    "ssl.certificate.location": "ssl.certificate.pem",
    "ssl.key.location": "ssl.key.pem",
}
"""Properties with a path, and the properties that accept the file content instead."""

_PEM = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----(.*?)-----END \1-----", re.DOTALL)
_EXTENSION = "extension_"
_OPTION = re.compile(r'(\w+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s";]+))')


def read_security(
    texts: Mapping[str, str], ssl: tls.SSLContext | bool | None, sasl: Any
) -> tuple[tls.SSLContext | FileContext | None, Any]:
    """Return the TLS context and the SASL mechanism, or None for each.

    * ``texts``: the properties. ``security.protocol`` decides whether TLS and SASL are
      used.
    * ``ssl``, ``sasl``: the arguments of ``connect``. They may complete the properties.

    Raises ``ValueError`` if the properties and the arguments contradict each other, or
    if a property is invalid or not supported. Raises ``TypeError`` if ``ssl`` or
    ``sasl`` has the wrong type. Raises ``OSError`` if a file does not exist or is not a
    certificate or key.
    """
    _check_types(ssl, sasl)
    protocol = texts.get("security.protocol")
    of_tls = [name for name in texts if name.startswith("ssl.")]
    of_sasl = [name for name in texts if name.startswith("sasl.")]
    if protocol is None:
        if of_tls or of_sasl:
            choices = PROTOCOLS[2:] if of_sasl else (PROTOCOLS[1], PROTOCOLS[3])
            raise ValueError(
                f"config: {(of_sasl + of_tls)[0]} has no effect without"
                f" security.protocol; set security.protocol to {' or '.join(choices)}"
            )
        return make_context(ssl), sasl
    protocol = protocol.upper()
    check_choice("security.protocol", protocol, PROTOCOLS)
    if protocol.endswith("SSL"):
        if ssl is False:
            raise _make_contradiction("ssl=False", "security.protocol", "requires TLS")
        if ssl and of_tls:
            raise _make_contradiction("ssl=", of_tls[0], "configures TLS too")
        context = make_context(ssl) if ssl else _make_file_context(texts)
    else:
        if ssl:
            raise _make_contradiction("ssl=", "security.protocol", "is without TLS")
        context = None
    if not protocol.startswith("SASL"):
        if sasl is not None:
            raise _make_contradiction("sasl=", "security.protocol", "is without SASL")
        return context, None
    return context, _make_mechanism(texts) if sasl is None else _check_sasl(texts, sasl)


def make_context(ssl: tls.SSLContext | bool | None) -> tls.SSLContext | None:
    """Return the TLS context for the argument ``ssl``.

    If it is True, the context trusts the certificate authorities of the system. If it
    is None or False, the result is None.
    """
    if ssl is not True:
        return ssl or None
    import ssl as tls

    return tls.create_default_context()


def is_mechanism(sasl: object) -> bool:
    """Whether the argument ``sasl`` is a mechanism instead of a factory function."""
    return hasattr(sasl, "first") and hasattr(sasl, "challenge")


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Raise ``ValueError`` if the value of a property is not in ``choices``."""
    if value not in choices:
        raise ValueError(f"config: {name} must be one of {', '.join(choices)}")


def check_stores(texts: Mapping[str, str]) -> None:
    """Raise ``ValueError`` if a certificate store is not PEM or has a password.

    kwire supports only PEM stores, which have no store password. The error contains a
    command that converts a JKS or PKCS12 store. Call this function before checking the
    property names, because unsupported stores have properties that kwire does not know.
    """
    for store, command in _CONVERSIONS.items():
        kind = texts.get(f"{store}.type", "JKS").upper()
        names = (f"{store}.location", f"{store}.type", f"{store}.password")
        if kind != "PEM" and any(name in texts for name in names):
            raise ValueError(
                f"config: {store}.type must be PEM (Kafka's default is JKS); convert"
                f" a JKS or PKCS12 store to PEM with: {command}"
            )
        if f"{store}.password" in texts:
            raise ValueError(
                f"config: {store}.password is not for PEM stores; leave it out, and"
                " set ssl.key.password if the key is encrypted"
            )


_CONVERSIONS = {
    "ssl.truststore": "keytool -list -rfc -keystore STORE > truststore.pem",
    "ssl.keystore": (
        "keytool -importkeystore -srckeystore STORE -destkeystore store.p12"
        " -deststoretype PKCS12, and then"
        " openssl pkcs12 -in store.p12 -nodes -out keystore.pem"
    ),
}
"""Commands that convert a Java store to PEM. Both prompt for the store password."""


def _check_types(ssl: object, sasl: object) -> None:
    """Raise ``TypeError`` if ``ssl`` or ``sasl`` has the wrong type.

    The error shows the type but not the value, which may be a password.
    """
    if ssl is not None and not isinstance(ssl, bool):
        # Import ssl only if it is required, because it is slow to import.
        from ssl import SSLContext

        if not isinstance(ssl, SSLContext):
            raise TypeError(
                "ssl must be an ssl.SSLContext, True, False or None"
                f" (got {type(ssl).__name__})"
            )
    if sasl is not None and not is_mechanism(sasl) and not callable(sasl):
        raise TypeError(
            "sasl must be a mechanism such as sasl.Plain(user, password), or a"
            f" function that returns one (got {type(sasl).__name__})"
        )


def _make_contradiction(argument: str, name: str, what: str) -> ValueError:
    return ValueError(
        f"config: {name} {what}, which contradicts the argument {argument}; leave one"
        " of them out, or change it"
    )


def _read_setting(texts: Mapping[str, str], *names: str) -> str | None:
    """Return the value of a setting with several property names.

    Returns None if no property is set. Raises ``ValueError`` if two properties have
    different values.
    """
    set_names = [name for name in names if name in texts]
    if len({texts[name] for name in set_names}) > 1:
        raise ValueError(
            f"config: {' and '.join(set_names)} contradict each other; leave one of"
            " them out"
        )
    return texts[set_names[0]] if set_names else None


def _check_one_source(texts: Mapping[str, str], *names: str) -> None:
    """Raise ``ValueError`` if both a file and its text are set.

    Kafka's Java client rejects this too.
    """
    set_names = [name for name in names if name in texts]
    if len(set_names) > 1:
        raise ValueError(
            f"config: {' and '.join(set_names)} contradict each other; set either the"
            " file or the text"
        )


def _check_sasl(texts: Mapping[str, str], sasl: Any) -> Any:
    """Return the argument ``sasl``, after comparing it with the properties.

    Raises ``ValueError`` if the properties contain credentials too. Raises
    ``CredentialsError`` if ``sasl.mechanism`` names a different mechanism. If ``sasl``
    is a function, it is replaced by a function that checks each mechanism.
    """
    expected = _read_setting(texts, "sasl.mechanism", "sasl.mechanisms")
    for name in ("sasl.jaas.config", *SETTING_PROPERTIES):
        # Kafka's Java client requires sasl.jaas.config for some mechanisms even if it
        # contains no credentials. Only its credentials contradict the argument.
        row = MECHANISMS.get(expected or "")
        if name == "sasl.jaas.config" and row is not None:
            has_credentials = bool(_read_jaas(texts, row))
        else:
            has_credentials = name in texts
        if has_credentials:
            raise _make_contradiction("sasl=", name, "sets credentials too")
    if expected is None:
        return sasl

    def check(mechanism: Any) -> Any:
        if mechanism.mechanism != expected:
            from ..connection.sasl import CredentialsError

            raise CredentialsError(
                "config: sasl.mechanism names another mechanism, which contradicts the"
                " argument sasl=; leave one of them out, or change it"
            )
        return mechanism

    if is_mechanism(sasl):
        return check(sasl)
    make: Callable[[], Any] = sasl
    return lambda: check(make())


def _make_mechanism(texts: Mapping[str, str]) -> Any:
    """Return the SASL mechanism that the properties configure.

    Raises ``ValueError`` if a required setting is missing, has an unsupported value, is
    set twice, or belongs to another mechanism.
    """
    name = _read_setting(texts, "sasl.mechanism", "sasl.mechanisms") or ""
    check_choice("sasl.mechanism", name, tuple(MECHANISMS))
    row = MECHANISMS[name]
    jaas = _read_jaas(texts, row)
    for other in SETTING_PROPERTIES:
        if other in texts and not any(
            other in candidate.properties for candidate in row.settings
        ):
            raise ValueError(f"config: {other} has no effect with {name}; leave it out")
    values = {}
    for setting in row.settings:
        value = _read_setting(texts, *setting.properties)
        in_jaas = jaas.get(setting.jaas)
        if value is not None and in_jaas is not None:
            used = next(option for option in setting.properties if option in texts)
            raise ValueError(
                f"config: sasl.jaas.config and {used} contradict each other; leave one"
                " of them out"
            )
        value = value or in_jaas
        if value and not setting.choices:
            values[setting.name] = value
        elif value and value.rpartition(".")[2] not in setting.choices:
            used = "".join(setting.properties) or f"{setting.jaas} of sasl.jaas.config"
            raise ValueError(f"config: {used} must be {' or '.join(setting.choices)}")
    if any(required.name not in values for required in row.required):
        raise _make_missing_error(row)
    return row.make(**values)


def _make_missing_error(row: SaslMechanism) -> ValueError:
    labels = " and ".join(setting.label for setting in row.required)
    names = " and ".join(setting.properties[0] for setting in row.required)
    if all(setting.jaas for setting in row.required):
        names = f"sasl.jaas.config, or {names}"
    return ValueError(f"config: {row.name} requires {labels}; set {names}")


def _read_jaas(texts: Mapping[str, str], row: SaslMechanism) -> dict[str, str]:
    """Parse ``sasl.jaas.config``, and return its options by name.

    The format is 'CLASS required username="name" password="password";'. Returns an
    empty dict if the property is not set. Raises ``ValueError`` if the class is not the
    login module of the mechanism. The error does not show the text.
    """
    text = texts.get("sasl.jaas.config")
    if text is None:
        return {}
    words = text.rstrip("; \n").split(None, 2)
    if len(words) < 2 or not words[0].endswith(f".{row.login_module}"):
        expected = " ".join(f'{s.jaas}="..."' for s in row.required if s.jaas)
        raise ValueError(
            f"config: sasl.jaas.config must be of the class {row.login_module} for"
            f" {row.name}: write CLASS required {expected};"
        )
    options = {
        name: re.sub(r"\\(.)", r"\1", quoted) or plain
        for name, quoted, plain in _OPTION.findall("".join(words[2:]))
    }
    # Every extension of OAUTHBEARER is a separate option with the prefix "extension_"
    # (KIP-342). Combine them in the format of sasl.oauthbearer.extensions.
    extensions = [
        f"{name.removeprefix(_EXTENSION)}={value}"
        for name, value in options.items()
        if name.startswith(_EXTENSION)
    ]
    return {**options, "extension_*": ",".join(extensions)} if extensions else options


def _make_file_context(texts: Mapping[str, str]) -> tls.SSLContext | FileContext:
    """Return the TLS context that the properties configure.

    If it uses files, the result is a ``FileContext``, which reloads changed files.
    """
    paths = {name: texts[name] for name in _TEXTS_OF_FILES if name in texts}
    if not paths:
        return _make_context(texts)
    return FileContext(partial(_make_context, texts), paths)


def _make_context(texts: Mapping[str, str]) -> tls.SSLContext:
    for name in _TEXTS_OF_FILES:
        if name in texts:
            _check_file(name, texts[name])
    _check_one_source(texts, "ssl.ca.location", "ssl.truststore.certificates")
    _check_one_source(texts, "ssl.truststore.location", "ssl.truststore.certificates")
    _check_one_source(texts, "ssl.certificate.location", "ssl.certificate.pem")
    _check_one_source(texts, "ssl.key.location", "ssl.key.pem")
    for name in ("ssl.keystore.certificate.chain", "ssl.keystore.key"):
        _check_one_source(texts, "ssl.keystore.location", name)
    authorities = _read_setting(texts, "ssl.ca.pem", "ssl.truststore.certificates")
    import ssl as tls

    context = tls.create_default_context(
        cafile=_read_setting(texts, "ssl.ca.location", "ssl.truststore.location"),
        cadata=None if authorities is None else _restore_lines(authorities),
    )
    if texts.get("ssl.endpoint.identification.algorithm", "https") in ("", "none"):
        context.check_hostname = False
    chain = _read_setting(texts, "ssl.certificate.location", "ssl.keystore.location")
    # Always pass a password. Otherwise, OpenSSL would prompt for the password of an
    # encrypted key on the terminal.
    password = texts.get("ssl.key.password", "")
    if chain is not None:
        context.load_cert_chain(chain, texts.get("ssl.key.location"), password)
        return context
    chain = _read_setting(
        texts, "ssl.certificate.pem", "ssl.keystore.certificate.chain"
    )
    key = _read_setting(texts, "ssl.key.pem", "ssl.keystore.key")
    if chain is not None and key is not None:
        _load_texts(context, chain, key, password)
    elif chain is not None or key is not None:
        raise ValueError(
            "config: a certificate and its key go together; set both of"
            " ssl.keystore.certificate.chain and ssl.keystore.key"
        )
    return context


def _check_file(name: str, path: str) -> None:
    """Check that the file of a property can be opened.

    Raises ``OSError`` with the name of the property if it cannot be opened. Raises
    ``ValueError`` if the value is PEM text or not a valid path.
    """
    if is_pem(path):
        raise ValueError(
            f"config: {name} must be a path (got PEM text); set"
            f" {_TEXTS_OF_FILES[name]} to the text"
        )
    try:
        with open(path, "rb"):
            pass
    except OSError as error:
        raise hide_path(error, name) from None
    except ValueError:
        raise ValueError(f"config: {name} must be a path") from None


def _load_texts(context: tls.SSLContext, chain: str, key: str, password: str) -> None:
    """Load a certificate and its key from PEM text.

    They are written to a temporary file that only the current user can read, because
    OpenSSL loads certificate chains only from files.
    """
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="kwire-") as folder:
        path = os.path.join(folder, "client.pem")
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(handle, "w", encoding="ascii", errors="replace") as file:
            file.write(f"{_restore_lines(key)}\n{_restore_lines(chain)}\n")
        context.load_cert_chain(path, None, password)


def _restore_lines(text: str) -> str:
    """Restore the line breaks of PEM text, as Kafka's Java client does.

    They are lost if the text continues over several lines of a property file.
    """
    return _PEM.sub(_format_block, text)


def _format_block(match: re.Match[str]) -> str:
    label, body = match.groups()
    if "\n" in body.strip():
        return match[0]
    lines = "\n".join(body.split())
    return f"-----BEGIN {label}-----\n{lines}\n-----END {label}-----\n"
