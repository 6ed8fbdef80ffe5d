# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The configuration of Sphinx for the site, which ``make docs`` builds.

Extensions of Sphinx (plain docstrings, the table of messages) are in
``tools/generate/docs.py``, the pages of APIs in ``tools/generate/api_pages.py``.
Nothing is fetched from anywhere, at no time.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Functions of the Python engine have signatures to show; the docstrings are the same.
os.environ["KWIRE_BACKEND"] = "pure"
sys.path.insert(0, str(ROOT))

import kwire  # noqa: E402

project = "kwire"
copyright = "2026, The kwire authors"
author = "The kwire authors"
release = version = kwire.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "tools.generate.docs",
    "tools.generate.api_pages",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
# Links to headings; what has no heading to point at is a warning, and so an error.
myst_heading_anchors = 3
myst_enable_extensions = ["deflist"]

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 70
python_use_unqualified_type_names = True
add_module_names = False
toc_object_entries_show_parents = "hide"
maximum_signature_line_length = 70

smartquotes = False

html_theme = "furo"
html_title = f"kwire {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {"footer_icons": [], "top_of_page_buttons": []}
# Only what says that it is Python is coloured so.
highlight_language = "none"
pygments_style = "friendly"
pygments_dark_style = "native"
