# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""All HTML pages have the same policy and colors, and escape names.

Attackers may choose names of clients, producers or directories in order to affect a
page's readers.
"""

import base64
import hashlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from kwire import records
from kwire._text import pages
from kwire._text.markup import Markup, attribute_text, make_text
from kwire.cli.main import program
from kwire.messages import FetchResponse, ProduceRequest, framing
from tests.jobs.made_groups import START, Groups, Topic
from tests.jobs.made_traffic import Capture
from tests.jobs.page_reader import PageReader

SIGNS = "<script>alert(1)</script>\"'&lt;{{7*7}}{% raw %}`</style><!--\u2028\u202e"
HOSTILE = SIGNS + "\0\x1b[2J\r\n"
FOLDER = SIGNS.replace("/", "")
"""Directory name with markup and quotes, which a page must escape."""

SEEN = "<script>alert(1)</script>\"'&lt;{{7*7}}{% raw %}`"
UNSEEN = set("\u2028\u202e\0\x1b\r")


def run(*arguments):
    """Run a command that may report problems. Its output is not checked here."""
    done = CliRunner().invoke(program, [str(argument) for argument in arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done


def audit(folder):
    """Write an audit page with a hostile client id."""
    capture = Capture()
    talk = capture.talk("10.0.0.1:1", client_id=HOSTILE)
    talk.ask_versions(3, "3.9", (HOSTILE, HOSTILE)).ask(ProduceRequest(), 0)
    capture.write(folder / "in" / "frames.parquet")
    target = folder / "out"
    run("audit", folder / "in", "--target", "4.1", "--output", target)
    return target / "report.html"


def export(folder):
    """Write an export page: hostile topic and directory names, and damage."""
    partition_directory = folder / "in" / f"{FOLDER}-0"
    partition_directory.mkdir(parents=True)
    batch = bytearray(records.encode_batch([(b"k", b"v" * 50)]))
    (partition_directory / f"{0:020}.log").write_bytes(bytes(batch) * 2 + b"\xff" * 90)
    target = folder / "out"
    run("export", folder / "in", "--output", target)
    return target / "report.html"


def offsets(folder):
    """Write an offsets page: hostile names of a group, a member, a topic, and lag."""
    topic = Topic(folder, "t", 0)
    topic.produce(5, START)
    topic.produce(5, START + 400_000)
    topic.write()
    groups = Groups(folder)
    groups.classic(HOSTILE, 1, {HOSTILE: {HOSTILE: [0]}}, START)
    groups.classic(HOSTILE, 2, {}, START + 1)
    groups.commit(HOSTILE, "t", 0, 3, START + 2, metadata=HOSTILE)
    groups.commit(HOSTILE, HOSTILE, 0, 3, START + 900_000)
    groups.write()
    run("offsets", folder, "--output", folder / "out")
    return folder / "out" / "report.html"


def explain(folder):
    """Write an explain page: hostile values of a message and its records."""
    row = HOSTILE.encode(), HOSTILE.encode(), 1, [(HOSTILE, SIGNS.encode())]
    plain = SIGNS.encode(), b"v", 1, [(HOSTILE, b"")]
    batches = records.encode_batch([plain]) + records.encode_batch(
        [row, plain], compression="gzip"
    )
    partition = FetchResponse.PartitionData(records=batches)
    topic = FetchResponse.FetchableTopicResponse(topic=HOSTILE, partitions=[partition])
    frame = framing.encode_response(FetchResponse(responses=[topic]), 12, 7)
    (folder / "frame").write_bytes(frame[:-1] + b"\x05")
    path = folder / "page.html"
    options = "--response", "Fetch", "--version", "12", "--html", path
    run("explain", f"@{folder / 'frame'}", *options)
    return path


def schema(folder):
    """Write a schema page, whose names are all Kafka's."""
    run("schema", "--release", "4.0", "--html", folder / "page.html")
    return folder / "page.html"


WRITERS = [audit, export, offsets, explain, schema]


@pytest.fixture(scope="module")
def written_pages(tmp_path_factory):
    """Return the HTML page of every command as a dict by command name."""
    return {
        write.__name__: write(tmp_path_factory.mktemp(write.__name__)).read_text(
            "utf-8"
        )
        for write in WRITERS
    }


@pytest.fixture(params=[write.__name__ for write in WRITERS])
def page(request, written_pages):
    """Return the HTML page of one command. The test runs once per command."""
    return written_pages[request.param]


def digest(text):
    """Return the Content-Security-Policy hash of a style or script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_every_page_has_the_policy_that_lets_it_do_nothing_else(page):
    """The policy of a page only allows its own style and script, by their hashes."""
    reader = PageReader(page)
    [(_, style)], [(_, script)] = reader.find("style"), reader.find("script")
    policies = [
        attributes["content"]
        for attributes, _ in reader.find("meta", http_equiv="Content-Security-Policy")
    ]
    assert policies == [
        f"default-src 'none'; style-src '{digest(style)}';"
        f" script-src '{digest(script)}'; img-src data:;"
        " base-uri 'none'; form-action 'none'"
    ]
    # The policy must be first, because it does not apply to elements before it.
    before = page.partition("http-equiv")[0]
    assert not re.search("<(script|style|link|img|base)", before)
    for name, attributes, _ in reader.tags:
        assert "style" not in attributes, name
        assert not [
            attribute for attribute in attributes if attribute.startswith("on")
        ], name


def test_every_page_loads_nothing(page):
    """A page loads no other file. Links refer to anchors on the page itself.

    The only exception is an empty icon.
    """
    reader = PageReader(page)
    addresses = {
        attributes[key]
        for _, attributes, _ in reader.tags
        for key in ("src", "href", "srcset", "action", "data", "xlink:href")
        if key in attributes
    }
    assert {address for address in addresses if address[0] != "#"} == {"data:,"}
    looks = "".join(text for _, text in reader.find("style") + reader.find("script"))
    assert not re.search(r"url\(|@import|import\(|fetch\(|XMLHttp|innerHTML", looks)


def test_every_page_has_the_same_palette(written_pages):
    """The style of every page starts with the rules of the base page."""
    starts = {
        PageReader(page).find("style")[0][1].partition("[hidden]")[0]
        for page in written_pages.values()
    }
    assert len(starts) == 1
    assert "prefers-color-scheme: dark" in starts.pop()


@pytest.mark.parametrize("name", ["audit", "export", "offsets", "explain"])
def test_hostile_names_are_text_on_every_page(written_pages, name):
    """Hostile names are readable text on every page.

    They add no tags, and are not evaluated as templates.
    """
    reader = PageReader(written_pages[name])
    words = "".join(
        "".join(text)
        for tag_name, _, text in reader.tags
        if tag_name not in ("style", "script")
    )
    visible_name = SEEN if name != "export" else SEEN.replace("/", "")
    assert visible_name in words
    assert "49" not in visible_name and f"{visible_name[:30]}49" not in words
    assert r"\u2028" in words and r"\u202e" in words
    assert not UNSEEN & set(words)
    assert len(reader.find("script")) == 1
    assert {tag for tag, _, _ in reader.tags} < {
        "html",
        "head",
        "meta",
        "link",
        "title",
        "style",
        "body",
        "script",
        "header",
        "main",
        "section",
        "footer",
        "h1",
        "h2",
        "p",
        "b",
        "i",
        "u",
        "em",
        "span",
        "small",
        "div",
        "dl",
        "dt",
        "dd",
        "figure",
        "figcaption",
        "svg",
        "g",
        "rect",
        "line",
        "text",
        "circle",
        "polyline",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "details",
        "summary",
    }


def test_text_and_attributes_are_escaped_once():
    """Text shows control characters, attributes keep them, and Markup is unchanged."""
    inside = Markup("<b>&lt;</b>")
    assert make_text(inside) is inside
    assert make_text("<b>\r\0") == Markup(r"&lt;b&gt;\r\x00")
    reader = PageReader(f'<b data-name="{attribute_text(HOSTILE)}"></b>')
    [(attributes, _)] = reader.find("b")
    assert attributes == {"data-name": HOSTILE.replace("\0", "\ufffd")}


def test_a_template_that_forgets_to_escape_escapes():
    """A template escapes plain text automatically, and does not escape markup again."""
    template = pages._make_environment().from_string("<p>{{ a }}{{ b }}{{ 7 }}</p>")
    inside = Markup("<i>") + make_text(SIGNS) + Markup("</i>")
    reader = PageReader(template.render(a=SIGNS, b=inside))
    assert [tag for tag, _, _ in reader.tags] == ["p", "i"]
    assert reader.find("p")[0][1] == reader.find("i")[0][1] + "7"


def test_markup_is_written_nowhere_else():
    """No module outside of ``pages`` contains tags in strings, or creates ``Markup``.

    Templates may not disable escaping either.
    """
    home = Path(pages.__file__).parent
    modules = [
        path for path in home.parent.rglob("*.py") if not path.is_relative_to(home)
    ]
    assert len(modules) > 100
    for path in modules:
        assert not re.search(r"</|Markup\(|\|safe", path.read_text("utf-8")), path
    templates = (home / "templates").glob("*.html")
    for template in templates:
        assert not re.search(r"\|\s*safe|autoescape", template.read_text("utf-8"))


def test_without_jinja2_one_sentence_names_the_extra(tmp_path):
    """If jinja2 is missing and a page is requested, an error names the extra.

    The error is raised before any work. Commands without a page do not need jinja2.
    """
    code = (
        "import sys; sys.modules['jinja2'] = sys.modules['markupsafe'] = None;"
        "from kwire.cli import main; main()"
    )
    capture = Capture()
    capture.talk("10.0.0.1:1").ask(ProduceRequest(), 3)
    capture.write(tmp_path / "frames.parquet")
    frame = "0000000a00120000000000070000"
    for arguments, is_page in (
        (["explain", frame], False),
        (["explain", frame, "--html", tmp_path / "page.html"], True),
        (["schema", "Fetch"], False),
        (["schema", "--html", tmp_path / "page.html"], True),
        (["audit", tmp_path, "--target", "4.1", "--output", tmp_path / "out"], True),
    ):
        command = [sys.executable, "-c", code, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        expected_error = (
            "kwire: writing a page requires Jinja2: pip install kwire[pages]\n"
        )
        assert done.stderr == (expected_error if is_page else ""), arguments
        assert done.returncode == (2 if is_page else 0), arguments
    assert [path.name for path in tmp_path.iterdir()] == ["frames.parquet"]


def test_commands_without_a_page_do_not_import_jinja2():
    """Commands without a page do not import jinja2, which would take 0.1 s."""
    code = (
        "import sys; sys.argv[1:] = ['explain', '0000000a00120000000000070000']\n"
        "from kwire.cli import main\n"
        "from kwire.jobs.audit_job import tasks\n"
        "from kwire.jobs.export_job import scan\n"
        "from kwire.jobs.offsets_job import lag\n"
        "try: main()\n"
        "finally: print({'jinja2', 'markupsafe'} & set(sys.modules), file=sys.stderr)"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == "set()\n"
