# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The base of all HTML pages: template, content security policy and colours.

A page is a template of ``templates/`` that extends ``base.html``, with a style and a
script of the same name beside it. What a template writes out is escaped, control
characters and the like included, unless it is ``Markup`` already, as a chart is, which
another template has written. The policy allows the page its own style and script, by
their hashes, and nothing else: a page loads nothing, and sends nothing anywhere.
Callers decide what is on it.
"""

from __future__ import annotations

import base64
import hashlib
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if find_spec("jinja2") is None:
    raise ImportError(
        "writing a page requires Jinja2: pip install kwire[pages]", name="jinja2"
    )

from .markup import Markup, attribute_text, make_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jinja2 import Environment, Template

POLICY = (
    "default-src 'none'; style-src '{style}'; script-src '{script}'; img-src data:;"
    " base-uri 'none'; form-action 'none'"
)
"""What a browser lets a page do. The picture is the icon, which is no bytes at all."""

_PIECES = 1000
"""Pieces of a template's output that are put together before they are written."""

_ready: list[Environment] = []


def render(name: str, /, **values: Any) -> str:
    """Write the page ``name`` as a whole document."""
    return _template(name).render(**_shell(name), **values)


def stream(name: str, /, **values: Any) -> Iterator[str]:
    """Write the page ``name`` in pieces: iterables among ``values`` are read once."""
    pieces = _template(name).stream(**_shell(name), **values)
    pieces.enable_buffering(_PIECES)
    return pieces


def draw(**values: Any) -> Markup:
    """Draw a chart of ``jobs.charts``, as a part of a page."""
    return Markup(_template("chart").render(**values))


def make_policy_hash(text: str) -> str:
    """Name a style or a script as a policy does. Source: Content Security Policy 3."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _template(name: str) -> Template:
    if not _ready:
        _ready.append(_environment())
    return _ready[0].get_template(f"{name}.html")


def _environment() -> Environment:
    # It takes 0.1 s to import, and most programs write no page.
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(_read),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=make_text,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["attribute"] = attribute_text
    environment.filters["percent"] = "{:.4f}%".format
    return environment


def _shell(name: str) -> dict[str, Markup]:
    style = "".join(map(_compact, (_read("base.css"), _read(f"{name}.css"))))
    script = _compact(_read(f"{name}.js"))
    policy = POLICY.format(
        style=make_policy_hash(style), script=make_policy_hash(script)
    )
    # These are files of this package: what else is Markup, a template has escaped.
    return {
        "policy": Markup(policy),
        "style": Markup(style),
        "script": Markup(script),
    }


def _compact(text: str) -> str:
    """Leave out indents, empty lines and lines of remarks."""
    lines = (line.strip() for line in text.splitlines())
    return "".join(f"{line}\n" for line in lines if line and line[:2] != "//")


def _read(name: str) -> str:
    # The loader finds it in a folder and in a zip, as schema/registry.py says.
    path = f"{__file__.removesuffix('pages.py')}templates/{name}"
    data: bytes = __spec__.loader.get_data(path)  # type: ignore[union-attr]
    return data.decode()
