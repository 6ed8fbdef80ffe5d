# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decides which property names and paths an error message may show.

If a property file has a broken line, a password or private key can be parsed as a
property name. Users also sometimes pass PEM text instead of a path. Therefore, an error
shows a name only if it resembles a Kafka property, and a path only if it is a single
line and not PEM text. Errors never show property values.
"""

from __future__ import annotations

import os
import re

from .._text import suggest_names
from .property_names import KNOWN
from .sasl_mechanisms import SECRET_PROPERTIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_NAME = re.compile(r"[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")

_OTHER_WORDS = frozenset(
    (
        "audience",
        "auth",
        "basic",
        "bearer",
        "callback",
        "cipher",
        "claim",
        "class",
        "clock",
        "cmd",
        "credentials",
        "crl",
        "curves",
        "debug",
        "enabled",
        "endpoint",
        "engine",
        "factory",
        "file",
        "handler",
        "implementation",
        "info",
        "issuer",
        "jitter",
        "jwks",
        "kafka",
        "kerberos",
        "keymanager",
        "kinit",
        "log",
        "login",
        "method",
        "name",
        "oauthbearer",
        "path",
        "principal",
        "protocols",
        "provider",
        "providers",
        "queue",
        "random",
        "refresh",
        "registry",
        "relogin",
        "renew",
        "schema",
        "scope",
        "secure",
        "service",
        "sigalgs",
        "skew",
        "source",
        "statistics",
        "suites",
        "time",
        "token",
        "topic",
        "trustmanager",
        "url",
        "user",
        "validator",
        "verification",
        "window",
    )
)
"""Words of property names that kwire does not know.

They are used by other Kafka clients and by schema registries, whose properties are
often in the same file as the connection properties.
"""

_SECRETS = (
    "sasl.jaas.config",
    *SECRET_PROPERTIES,
    "ssl.key.password",
    "ssl.keystore.key",
    "ssl.key.pem",
    "ssl.keystore.password",
    "ssl.truststore.password",
)
"""Properties with secret values.

If a line in a property file lacks its separator, the parsed name consists of such a
name and its secret.
"""

_LONGEST_NAME = 80
_LONGEST_PATH = 255
_MORE_LETTERS = 3
"""Maximum number of letters by which a misspelled name may exceed its correction.

A longer name may contain a part of a value.
"""

_PEM = re.compile(r"-----(BEGIN|END)|^\s*MI[A-Za-z0-9+/=]{30}|^[A-Za-z0-9+/=]{64,}$")
"""Matches the first or last line of PEM text, or a line of its Base64 content."""


def _split_words(name: str) -> list[str]:
    """Split a property name into its words in lower case.

    "endpoint.identification" and "endpointIdentification" return the same words.
    """
    return [word.lower() for word in _WORD.findall(name)]


def looks_like_name(name: object, known: Iterable[str]) -> bool:
    """Whether an unknown property name can be shown without revealing a secret.

    The name can be shown if all its words occur in ``known`` or in properties of other
    Kafka clients, or if it is a misspelling of a name in ``known``. A name that begins
    with a property in ``_SECRETS`` can only be shown if it is equal to that property.
    A name that is longer than 80 characters cannot be shown. The prefix "kafka." is
    ignored.
    """
    if not isinstance(name, str) or len(name) > _LONGEST_NAME:
        return False
    short = name.lower().removeprefix("kafka.")
    if short in _SECRETS:
        return True
    if not _NAME.fullmatch(name) or short.startswith(_SECRETS):
        return False
    names = list(known)
    vocabulary = _OTHER_WORDS.union(*map(_split_words, (*KNOWN, *names)))
    if vocabulary.issuperset(_split_words(name)):
        return True
    # Import difflib here, because only error messages require it.
    from difflib import get_close_matches

    near = get_close_matches(name.lower(), {each.lower() for each in names}, 1, 0.8)
    return bool(near) and len(name) <= len(near[0]) + _MORE_LETTERS


def describe_unknown(
    unknown: Iterable[object], known: Iterable[str], advice: str
) -> str:
    """Describe unknown property names for an error message.

    Returns up to five names that can be shown, with similar names from ``known`` as a
    suggestion, or with ``advice`` if there is no similar name. If no name can be shown,
    returns the reason.
    """
    names, known = list(unknown), list(known)
    shown = [str(name) for name in names if looks_like_name(name, known)]
    if shown:
        hint = suggest_names(shown[0], known)
        return ", ".join(shown[:5]) + (hint or f"; {advice}")
    return (
        "of a name that is not shown, because it may be a part of a value; in a"
        " property file, end each line of a value except the last with a backslash"
    )


def is_pem(text: str) -> bool:
    """Whether a text contains PEM data, or resembles a part of a certificate or key."""
    return _PEM.search(text) is not None


def show_path(path: object) -> str | None:
    """Return a path as text for an error message.

    Returns None if the value is not a path, has more than 255 characters, is not
    printable, or looks like PEM text.
    """
    if not isinstance(path, (str, bytes, os.PathLike)):
        return None
    text = os.fsdecode(path)
    if not text.isprintable() or len(text) > _LONGEST_PATH or is_pem(text):
        return None
    return text


def hide_path(error: OSError, what: str = "") -> OSError:
    """Return a copy of a file error, without the path if it must not be shown.

    ``what`` is the name of the property or argument. If it is not empty, the message
    begins with it.
    """
    path = show_path(error.filename)
    reason = f"{what}: {error.strerror}" if what else str(error.strerror)
    if path is not None:
        return type(error)(error.errno, reason, path)
    return type(error)(error.errno, f"{reason} (what was passed is not a path)")
