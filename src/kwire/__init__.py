# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""kwire: Apache Kafka's wire protocol, every message and every version.

    import kwire
    from kwire.messages import MetadataRequest

    data = kwire.encode(MetadataRequest(topics=None), version=12)
    kwire.decode(MetadataRequest, data, version=12)

Submodules are imported on first use, so that ``import kwire`` loads no engine and no
message classes.
"""

from __future__ import annotations

__version__ = "0.1.0"

_HOMES = {
    "backend": "_engine.active",
    "decode": "messages.codec",
    "encode": "messages.codec",
    "from_json": "messages.json_form",
    "to_json": "messages.json_form",
    "Limits": "_limits",
    "VersionRange": "schema.versions",
    **dict.fromkeys(
        (
            "CorruptBatch",
            "DecodeError",
            "EncodeError",
            "InvalidJson",
            "InvalidLength",
            "InvalidValue",
            "InvalidVarint",
            "KwireError",
            "LimitExceeded",
            "LocalProtocolError",
            "ProtocolError",
            "RemoteProtocolError",
            "SchemaError",
            "TrailingBytes",
            "Truncated",
            "UnsupportedVersion",
        ),
        "errors",
    ),
}
_MODULES = {
    "error_codes": "schema.error_codes",
    **{
        name: name
        for name in (
            "client",
            "connection",
            "drafts",
            "errors",
            "explain",
            "jobs",
            "log",
            "messages",
            "recording",
            "records",
            "schema",
            "spark",
            "testing",
        )
    },
}

__all__ = ["__version__", *_HOMES, *_MODULES]


def __getattr__(name: str) -> object:
    import sys

    home = _HOMES.get(name) or _MODULES.get(name)
    if home is None:
        from ._text.name_advice import describe_missing

        text = describe_missing("kwire", name, __all__)
        if not name.startswith("_"):
            from .schema import registry

            if name in registry.names():
                text += f"; use kwire.messages.{name}"
        raise AttributeError(text)
    # ``__import__`` is used because importing ``importlib`` is slow.
    __import__(f"{__name__}.{home}")
    value = sys.modules[f"{__name__}.{home}"]
    if name in _HOMES:
        value = getattr(value, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
