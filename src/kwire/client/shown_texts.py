# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decides which names and paths of a user an error may show.

A property file with a broken line turns parts of a password or of a private key into
names of properties, and PEM text is easily passed where a path belongs. An error shows
a name only if it looks like a name of Kafka's, and a path only if it is one line and
not PEM text. It never shows the value of a property.
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
"""Words of properties that kwire does not know: those of other Kafka clients and of
schema registries, which share files with the properties of a connection."""

_SECRETS = (
    "sasl.jaas.config",
    *SECRET_PROPERTIES,
    "ssl.key.password",
    "ssl.keystore.key",
    "ssl.key.pem",
    "ssl.keystore.password",
    "ssl.truststore.password",
)
"""Names that are followed by a secret if the separator after them is missing."""

_LONGEST_NAME = 80
_LONGEST_PATH = 255
_MORE_LETTERS = 3
"""How many letters a misspelled name may have that its correction does not have."""

_PEM = re.compile(r"-----(BEGIN|END)|^\s*MI[A-Za-z0-9+/=]{30}|^[A-Za-z0-9+/=]{64,}$")
"""The lines around PEM text, or a line of it if these lines are missing."""


def _split_words(name: str) -> list[str]:
    """Split "endpoint.identification" and "endpointIdentification" into lower case."""
    return [word.lower() for word in _WORD.findall(name)]


def looks_like_name(name: object, known: Iterable[str]) -> bool:
    """Whether an unknown name is a name, and not a part of a value.

    Each of its words is a word of ``known`` or of other Kafka clients, or the whole
    name differs from one of ``known`` in a few letters.
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
    # Imported here because only errors need it.
    from difflib import get_close_matches

    near = get_close_matches(name.lower(), {each.lower() for each in names}, 1, 0.8)
    return bool(near) and len(name) <= len(near[0]) + _MORE_LETTERS


def describe_unknown(
    unknown: Iterable[object], known: Iterable[str], advice: str
) -> str:
    """Describe unknown names: up to five that look like names, or why none is shown.

    ``advice`` is added if none of ``known`` is similar.
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
    """Whether a text contains a certificate or a key, or looks like a part of one."""
    return _PEM.search(text) is not None


def show_path(path: object) -> str | None:
    """Return a path as an error may show it; None if it may not be shown."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        return None
    text = os.fsdecode(path)
    if not text.isprintable() or len(text) > _LONGEST_PATH or is_pem(text):
        return None
    return text


def hide_path(error: OSError, what: str = "") -> OSError:
    """Return the error of a file without its path, if the path may not be shown.

    ``what`` is written before the reason: the name of the property or argument.
    """
    path = show_path(error.filename)
    reason = f"{what}: {error.strerror}" if what else str(error.strerror)
    if path is not None:
        return type(error)(error.errno, reason, path)
    return type(error)(error.errno, f"{reason} (what was passed is not a path)")
