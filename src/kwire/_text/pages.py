# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Common base for all HTML pages: templates, content security policy and colors.

A page is a template in ``templates/`` that extends ``base.html``. It has a style sheet
and a script with the same name. All template output is escaped, including control
characters, unless it already is ``Markup``. For example, a chart is ``Markup`` because
another template has escaped its content. The policy only allows the page's own style
and script, which are identified by their hashes. Therefore, a page cannot load or send
anything. Callers determine the content.
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
"""Content security policy.

``img-src`` only allows the icon, which is an empty data URL.
"""

_PIECES = 1000
"""Number of fragments of template output that are joined into one string, because a
template returns many short fragments and every string has a fixed cost.
"""

_environments: list[Environment] = []


def render(name: str, /, **values: Any) -> str:
    """Render the page ``name`` as a complete document."""
    return _load_template(name).render(**_make_shell(name), **values)


def stream(name: str, /, **values: Any) -> Iterator[str]:
    """Render the page ``name`` incrementally.

    Iterables in ``values`` are consumed once, while the page is rendered.
    """
    pieces = _load_template(name).stream(**_make_shell(name), **values)
    pieces.enable_buffering(_PIECES)
    return pieces


def draw(**values: Any) -> Markup:
    """Render a chart from ``jobs.charts`` as a fragment of a page."""
    return Markup(_load_template("chart").render(**values))


def make_policy_hash(text: str) -> str:
    """Return the policy hash for a style or script.

    Source: Content Security Policy 3.
    """
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _load_template(name: str) -> Template:
    if not _environments:
        _environments.append(_make_environment())
    return _environments[0].get_template(f"{name}.html")


def _make_environment() -> Environment:
    # Import Jinja2 here, because it takes 0.1 s and most programs do not create pages.
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(_read_template_file),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=make_text,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["attribute"] = attribute_text
    environment.filters["percent"] = "{:.4f}%".format
    return environment


def _make_shell(name: str) -> dict[str, Markup]:
    styles = _read_template_file("base.css"), _read_template_file(f"{name}.css")
    style = "".join(map(_compact, styles))
    script = _compact(_read_template_file(f"{name}.js"))
    policy = POLICY.format(
        style=make_policy_hash(style), script=make_policy_hash(script)
    )
    # Mark these texts as safe, because they come from files in this package. Templates
    # escape all other texts.
    return {
        "policy": Markup(policy),
        "style": Markup(style),
        "script": Markup(script),
    }


def _compact(text: str) -> str:
    """Remove indentation, empty lines and comment lines from a style or script."""
    lines = (line.strip() for line in text.splitlines())
    return "".join(f"{line}\n" for line in lines if line and line[:2] != "//")


def _read_template_file(name: str) -> str:
    # Read the file through the module loader, because this also works if kwire is
    # imported from a zip archive.
    path = f"{__file__.removesuffix('pages.py')}templates/{name}"
    data: bytes = __spec__.loader.get_data(path)  # type: ignore[union-attr]
    return data.decode()
