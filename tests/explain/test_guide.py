# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The protocol documentation is complete and uses the notation of Kafka's guide."""

import importlib
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from tests.explain.layout_reader import Reader, names_of, read_layout
from tests.harness import golden
from tests.harness.sweeps import sweep

FETCH_12 = """\
Fetch Request (Version: 12) => replica_id max_wait_ms min_bytes max_bytes \
isolation_level session_id session_epoch [topics] [forgotten_topics_data] rack_id \
_tagged_fields
  replica_id => INT32  # default -1
  max_wait_ms => INT32
  min_bytes => INT32
  max_bytes => INT32  # default 2147483647
  isolation_level => INT8
  session_id => INT32
  session_epoch => INT32  # default -1
  topics => topic [partitions] _tagged_fields  # COMPACT_ARRAY
    topic => COMPACT_STRING
    partitions => partition current_leader_epoch fetch_offset last_fetched_epoch \
log_start_offset partition_max_bytes _tagged_fields  # COMPACT_ARRAY
      partition => INT32
      current_leader_epoch => INT32  # default -1
      fetch_offset => INT64
      last_fetched_epoch => INT32  # default -1
      log_start_offset => INT64  # default -1
      partition_max_bytes => INT32
  forgotten_topics_data => topic [partitions] _tagged_fields  # COMPACT_ARRAY
    topic => COMPACT_STRING
    partitions => INT32  # COMPACT_ARRAY
  rack_id => COMPACT_STRING
  cluster_id<tag: 0> => COMPACT_NULLABLE_STRING  # default null
"""

HEADER_2 = """\
RequestHeader (Version: 2) => request_api_key request_api_version correlation_id \
client_id _tagged_fields
  request_api_key => INT16
  request_api_version => INT16
  correlation_id => INT32
  client_id => NULLABLE_STRING
"""

METADATA_0 = """\
Metadata Request (Version: 0) => [topics]
  topics => name  # ARRAY
    name => STRING
"""

METADATA_1 = """\
Metadata Request (Versions) => [topics]
  topics => name  # ARRAY, nullable
    name => STRING
"""

NARROW = """\
Heartbeat Request (Version: 4) =>
    group_id generation_id member_id
    group_instance_id _tagged_fields
  group_id => COMPACT_STRING
  generation_id => INT32
  member_id => COMPACT_STRING
  group_instance_id =>
      COMPACT_NULLABLE_STRING
      # default null
"""


@pytest.fixture
def guide(kwire):
    """Return the ``guide`` module of the engine under test."""
    return importlib.import_module(f"{kwire.__name__}.explain.guide")


@pytest.fixture
def pages(kwire):
    """Return the ``guide_page`` module of the engine under test."""
    return importlib.import_module(f"{kwire.__name__}.explain.guide_page")


def layout(kwire, guide, name, version):
    """Return the layout of one message version."""
    (match,) = guide.layouts(kwire.schema.registry.load(name), [version])
    return match


@pytest.mark.parametrize(
    ("name", "version", "text"),
    [
        ("FetchRequest", 12, FETCH_12),
        ("RequestHeader", 2, HEADER_2),
        ("MetadataRequest", 0, METADATA_0),
        ("MetadataRequest", 1, METADATA_1.replace("(Versions)", "(Version: 1)")),
        ("ListGroupsRequest", 0, "ListGroups Request (Version: 0) =>\n"),
    ],
)
def test_layouts_are_in_the_notation_of_the_guide(kwire, guide, name, version, text):
    """The layout of a message is printed exactly as the expected text.

    The examples are flexible, nullable, tagged, classic and empty messages.
    """
    assert layout(kwire, guide, name, version).text() == text


def test_lines_are_wrapped_to_a_width(kwire, guide):
    """Continuation lines are indented deeper, and all lines respect the width."""
    assert layout(kwire, guide, "HeartbeatRequest", 4).text(36) == NARROW
    for name in kwire.messages.ALL:
        for layout_ in guide.layouts(kwire.schema.registry.load(name)):
            text = layout_.text(80)
            assert max(map(len, text.splitlines())) <= 80
            assert text.split() == layout_.text().split()


@sweep("name", sorted({name for name, _ in golden.by_pair()}))
def test_printed_layout_decodes_the_bytes_of_kafka(kwire, guide, name):
    """The printed layout of a message is enough to decode Kafka's golden vectors."""
    message = kwire.schema.registry.load(name)
    trees = {}
    for layout_ in guide.layouts(message):
        trees |= dict.fromkeys(layout_.versions, read_layout(layout_.text()))
    assert list(trees) == list(message.valid_versions)
    for version, tree in trees.items():
        for vector in golden.by_pair()[name, version]:
            reader = Reader(vector.data)
            names = names_of(reader.fields(tree))
            # Kafka provides no JSON for this message.
            if name != "SubscriptionInfoData":
                assert names == names_of(vector.json)
            assert reader.at == len(vector.data)


def test_adjacent_equal_versions_are_grouped(kwire, guide):
    """Adjacent versions with equal layouts share one entry.

    The entries cover all versions, and two consecutive entries have different layouts.
    """
    load = kwire.schema.registry.load
    ranges = [str(layout_.versions) for layout_ in guide.layouts(load("FetchRequest"))]
    assert ranges[:5] == ["0-2", "3", "4", "5-6", "7-8"]
    for name in kwire.messages.ALL:
        layouts = guide.layouts(load(name))
        for before, after in pairwise(layouts):
            assert after.versions.min == before.versions.max + 1
            assert before[3:] != after[3:]


def test_layouts_differ_by_header_version(kwire, guide):
    """Versions with equal fields but different header versions are separate entries.

    ControlledShutdown 0 and 1 are an example.
    """
    layouts = guide.layouts(kwire.schema.registry.load("ControlledShutdownRequest"))
    assert [(str(f.versions), f.header_version) for f in layouts[:2]] == [
        ("0", 0),
        ("1", 1),
    ]
    assert layouts[0].fields == layouts[1].fields


def test_versions_that_do_not_exist_are_refused(kwire, guide):
    with pytest.raises(kwire.UnsupportedVersion, match=r"versions 0 to 18 \(got 19\)"):
        guide.layouts(kwire.schema.registry.load("FetchRequest"), [19])


def test_notable_defaults_are_printed(kwire, guide):
    """Zero, empty and false defaults are omitted.

    Null appears only if it is possible.
    """
    facts = guide.field_facts(layout(kwire, guide, "CreateTopicsRequest", 4).fields)
    by_name = {fact["name"]: fact for fact in facts}
    assert by_name["timeout_ms"]["default"] == "60000"
    assert by_name["validate_only"]["default"] is None
    old = guide.field_facts(layout(kwire, guide, "MetadataRequest", 8).fields)
    assert {fact["name"]: fact["default"] for fact in old} == {
        "topics": None,
        "allow_auto_topic_creation": "true",
        "include_cluster_authorized_operations": None,
        "include_topic_authorized_operations": None,
    }


def test_json_facts_equal_the_text(kwire, guide):
    """The JSON form of a layout contains the same facts as its text.

    Nested fields are nested objects. Arrays, nullability and tags have separate keys.
    """
    (topics,) = guide.field_facts(layout(kwire, guide, "MetadataRequest", 1).fields)
    assert topics == {
        "name": "topics",
        "type": "MetadataRequestTopic",
        "array": "ARRAY",
        "nullable": True,
        "tag": None,
        "default": None,
        "fields": [
            {
                "name": "name",
                "type": "STRING",
                "array": None,
                "nullable": False,
                "tag": None,
                "default": None,
            }
        ],
    }


class PageReader(HTMLParser):
    """Collect the contents of an HTML page.

    * ``ids``: all id attributes.
    * ``links``: targets of all links.
    * ``addresses``: URLs in other elements, such as images and scripts.
    * ``layouts``: texts of all printed layouts.
    """

    def __init__(self, page):
        super().__init__()
        self.ids, self.links, self.addresses, self.layouts = [], [], [], []
        self.is_line = False
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        facts = dict(attributes)
        self.ids += [facts["id"]] if "id" in facts else []
        if tag == "a":
            self.links += [facts["href"]] if "href" in facts else []
        else:
            self.addresses += [facts[key] for key in ("src", "href") if key in facts]
        if facts.get("class") == "layout":
            self.layouts.append("")
        elif tag == "div":
            self.is_line = facts["class"].startswith("d")

    def handle_endtag(self, tag):
        if tag == "div" and self.is_line:
            self.layouts[-1] += "\n"
            self.is_line = False

    def handle_data(self, data):
        if self.is_line:
            self.layouts[-1] += data


@pytest.mark.parametrize("release", ["4.4", "3.9", "0.8.0"])
def test_page_needs_no_external_resources(pages, release):
    """All links refer to unique ids on the page, and no resources are loaded."""
    page = pages.page(release)
    reader = PageReader(page)
    assert reader.addresses == ["data:,"]
    assert all(link.startswith("#") for link in reader.links)
    assert {link[1:] for link in reader.links} <= set(reader.ids)
    assert len(reader.ids) == len(set(reader.ids))
    assert len(page.encode()) < 3_000_000
    assert "url(" not in page and "@import" not in page and "fetch(" not in page


def test_page_has_every_layout(kwire, guide, pages):
    """The page contains every layout exactly as the guide prints it."""
    texts = PageReader(pages.page()).layouts
    layouts = []
    for name in kwire.messages.ALL:
        layouts += guide.layouts(kwire.schema.registry.load(name))
    assert sorted(texts) == sorted(layout_.text() for layout_ in layouts)


def test_page_of_some_messages_has_no_others(pages):
    reader = PageReader(pages.page("2.8", ["FetchRequest", "TopicRecord"]))
    titles = {text.partition(" (")[0] for text in reader.layouts}
    assert titles == {"Fetch Request", "TopicRecord"}
    assert "FetchRequest-12" in reader.ids and "FetchRequest-13" not in reader.ids


def test_page_marks_deprecated_and_removed_versions(pages):
    """Deprecated and removed versions are marked in the version list and at layouts."""
    old, new = pages.page("3.9", ["FetchRequest"]), pages.page("4.4", ["FetchRequest"])
    assert '<a class="deprecated" href="#FetchRequest-3"' in old
    assert '<span class="deprecated">deprecated</span>' in old
    assert '<a class="removed" href="#FetchRequest-3"' in new
    assert '<span class="removed">removed in 4.0</span>' in new
    assert '<a class="spoken" href="#FetchRequest-4"' in new
