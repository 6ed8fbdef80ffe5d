# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The protocol's documentation as one HTML page, complete in itself.

What the page says comes from ``protocol_guide.py``; here are its markup, looks and
manners. It loads nothing, and its own policy forbids it to. Without JavaScript all of
it can be read; with it, the search box and the links to versions work better.
"""

from __future__ import annotations

from html import escape
from re import sub
from typing import NamedTuple

from . import protocol_guide
from .schema import registry, releases
from .versions import VersionRange

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .protocol_guide import Api, Layout


class Section(NamedTuple):
    """What stands under one heading: an API, a record, the key and value of one."""

    group: str
    title: str
    number: int | None
    names: tuple[str, ...]
    api: Api | None

    @property
    def anchor(self) -> str:
        """Where links lead; an API and records may have the same title."""
        is_pair = self.api is None and self.title not in self.names
        return f"{self.title}-records" if is_pair else self.title

    @property
    def state(self) -> str:
        """What the navigation shows: the versions, or why there are none."""
        if self.api is None:
            return _range(registry.find(self.names[-1]).valid_versions)
        if self.api.versions:
            return _range(self.api.versions)
        return next(reversed(self.api.status.values())).partition(" ")[0]


def page(release: str = protocol_guide.NEWEST, names: Sequence[str] = ()) -> str:
    """Write the page of a release as a whole HTML document.

    With ``names``, only those messages are on it. Cost: below a second and 2 MB.
    """
    sections = [
        section
        for section in _sections(release)
        if not names or set(names) & set(section.names)
    ]
    if names:
        sections = [
            each._replace(names=tuple(name for name in each.names if name in names))
            for each in sections
        ]
    title = f"Kafka {release} protocol"
    return "".join(
        (
            '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            '<meta http-equiv="Content-Security-Policy" content="',
            "default-src 'none'; style-src 'unsafe-inline'; ",
            "script-src 'unsafe-inline'; img-src data:\">\n",
            f'<link rel="icon" href="data:,">\n<title>{title}</title>\n',
            f"<style>{_STYLE}</style>\n",
            f"<header><h1>{title}</h1>{_SEARCH}</header>\n",
            *_navigation(sections),
            "<main>\n",
            *(() if names else _introduction(release)),
            *(part for section in sections for part in _section(section)),
            '<p id="nothing" hidden>No message has that in it.</p>\n',
            f"</main>\n<script>{_SCRIPT}</script>\n</html>\n",
        )
    )


def _sections(release: str) -> Iterator[Section]:
    for api in protocol_guide.apis(release):
        names = tuple(f"{api.name}{kind}" for kind in ("Request", "Response"))
        yield Section("APIs", api.name, api.api_key, names, api)
    for group, messages in protocol_guide.other_messages():
        together: dict[str, list[str]] = {}
        for name in messages:
            title = name
            if registry.find(name).kind.startswith("coordinator"):
                title = name.removesuffix("Key").removesuffix("Value")
            together.setdefault(title, []).append(name)
        for title, names_ in together.items():
            number = registry.find(names_[0]).api_key
            yield Section(group, title, number, tuple(names_), None)


def _navigation(sections: Iterable[Section]) -> Iterator[str]:
    yield '<nav><details id="menu" open><summary>Messages</summary>\n'
    group = ""
    for section in sections:
        if section.group != group:
            yield f"{'</ul>' if group else ''}<h2>{section.group}</h2><ul>\n"
            group = section.group
        gone = ' class="removed"' if section.state == "removed" else ""
        number = "" if section.number is None else section.number
        yield (
            f'<li><a href="#{section.anchor}"{gone}><b>{number}</b>'
            f"<span>{_breakable(section.title)}</span><small>{section.state}</small>"
            "</a>\n"
        )
    yield "</ul></details></nav>\n"


def _range(versions: VersionRange) -> str:
    return str(versions).replace("-", "&ndash;")


def _breakable(name: str) -> str:
    """Let a browser break a long name before its capitals."""
    return sub("(?<=[a-z])(?=[A-Z])", "<wbr>", name)


def _introduction(release: str) -> Iterator[str]:
    yield _NOTATION
    number = releases.NAMES.index(release)
    if number:
        before = releases.NAMES[number - 1]
        changes = releases.changes(before, release)
        yield f"<details><summary>What changed since {before}</summary><ul>"
        for verb, ranges in ("added", changes.added), ("removed", changes.removed):
            for key, versions in sorted(ranges.items()):
                name = releases.name_of(key)
                yield (
                    f'<li class="{verb}"><a href="#{name}">{name}</a>'
                    f" {_range(versions)} {verb}"
                )
        if not changes.added and not changes.removed:
            yield "<li>no API and no version"
        yield "</ul></details>\n"


def _section(section: Section) -> Iterator[str]:
    number = "" if section.number is None else f"<small>{section.number}</small> "
    yield f'<section id="{section.anchor}"><h2>{number}{section.title}</h2>\n'
    api = section.api
    if api is None:
        yield f'<p class="facts">{section.group}: every version, of any release</p>\n'
    else:
        listeners = ", ".join(api.listeners) or "no node any more"
        yield f'<p class="facts">spoken by {listeners}</p>\n<p class="versions">'
        for version, note in api.status.items():
            kind = note.partition(" ")[0] or "spoken"
            yield (
                f'<a class="{kind}" href="#{section.names[0]}-{version}"'
                f' title="version {version} {note}">{version}</a>'
            )
        yield "</p>\n"
    yield '<div class="messages">'
    for name in section.names:
        yield "<article>"
        if name != section.title:
            yield f'<h3 id="{name}">{name}</h3>\n'
        known = None if api is None else list(api.status)
        found = protocol_guide.layouts(registry.load(name), known)
        earlier = [None, *found]
        pairs = list(zip(found, earlier, strict=False))
        for layout, before in reversed(pairs):
            notes = [] if api is None else api.notes(layout.versions)
            yield from _layout(layout, before, notes, layout is found[-1])
        yield "</article>\n"
    yield "</div></section>\n"


def _layout(
    layout: Layout,
    before: Layout | None,
    notes: list[tuple[str, str]],
    is_open: bool,
) -> Iterator[str]:
    yield f"<details{' open' if is_open else ''}><summary>"
    plural = "s" if len(layout.versions) > 1 else ""
    yield f"version{plural} {_range(layout.versions)}"
    for versions, note in notes:
        which = "" if versions == str(layout.versions) else f"{versions} "
        yield f' <span class="{note.partition(" ")[0]}">{which}{note}</span>'
    if layout.flexible:
        yield " <span>flexible</span>"
    if layout.header_version is not None:
        yield f" <span>header {layout.header_version}</span>"
    yield '</summary><div class="layout">'
    for version in layout.versions:
        yield f'<a id="{layout.message}-{version}"></a>'
    known = set() if before is None else set(before.lines()[1:])
    for line in layout.lines():
        is_new = before is not None and line.depth and line not in known
        definition = escape(line.definition)
        if definition.isupper():
            definition = f"<i>{definition}</i>"
        note = f"  <em># {escape(line.notes)}</em>" if line.notes else ""
        indent = "  " * line.depth
        text = f"{indent}{escape(line.name)} =&gt; {definition}".rstrip() + note
        fresh = " new" if is_new else ""
        yield f'<div class="d{line.depth}{fresh}">{text}</div>'
    yield "</div></details>\n"


_SEARCH = (
    '<input id="search" type="search" autocomplete="off" spellcheck="false"'
    ' placeholder="Search a message, key or field   ( / )"'
    ' aria-label="Search"><output id="count"></output>'
)

_NOTATION = """<details><summary>How to read the layouts</summary>
<p>A line gives a field and its type, or the fields of its struct in the order of the
wire. <code>[name]</code> is an array; the line of <code>name</code> says what an
element is, and after the <code>#</code> how the count is written:
<code>ARRAY</code> an INT32, <code>COMPACT_ARRAY</code> an unsigned varint of the
count plus one. <code>NULLABLE</code> in a type, or <code>nullable</code> after the
<code>#</code>, allows null.
<p><code>_tagged_fields</code> closes every struct of a flexible version. Fields marked
<code>&lt;tag: 0&gt;</code> are in there, and only if they differ from their default.
<p class="new">Lines with a bar are new, or different from the version before.</p>
</details>
"""

_STYLE = """
:root { color-scheme: light dark; --back: #fff; --ink: #1c2430; --dim: #667085;
  --line: #dfe3ea; --soft: #f5f7fa; --link: #1f5fbf; --type: #0b6e4f;
  --new: #12926a; --bad: #b42318; --warn: #9a5b00; --odd: #6941c6; --hit: #ffe58a; }
@media (prefers-color-scheme: dark) { :root { --back: #14181f; --ink: #dde3ec;
  --dim: #8d98a9; --line: #2b323d; --soft: #1b212a; --link: #7fb2ff; --type: #6fd3ac;
  --new: #38c793; --bad: #ff8a7a; --warn: #f0b45b; --odd: #b8a1ff; --hit: #6b5600; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 4.5rem; }
body { margin: 0; color: var(--ink); background: var(--back); display: grid;
  grid-template: auto 1fr / 21rem minmax(0, 1fr);
  font: 15px/1.5 system-ui, sans-serif; }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
header { grid-column: 1 / -1; position: sticky; top: 0; z-index: 1; display: flex;
  flex-wrap: wrap; gap: .4rem 1.5rem; align-items: center; padding: .6rem 1.2rem;
  background: var(--back); border-bottom: 1px solid var(--line); }
h1 { font-size: 1.15rem; margin: 0; }
input { flex: 1 1 14rem; max-width: 34rem; font: inherit; color: inherit;
  padding: .35rem .7rem; border: 1px solid var(--line); border-radius: .4rem;
  background: var(--soft); }
output { color: var(--dim); }
nav { border-right: 1px solid var(--line); }
#menu { position: sticky; top: 3.6rem; max-height: calc(100vh - 3.6rem);
  overflow-y: auto; padding: .4rem .6rem 2rem; }
#menu > summary { display: none; }
nav h2 { font-size: .75rem; text-transform: uppercase; letter-spacing: .06em;
  color: var(--dim); margin: 1rem .5rem .2rem; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav a { display: flex; gap: .6rem; padding: .1rem .5rem; border-radius: .3rem;
  color: inherit; }
nav a:hover { background: var(--soft); text-decoration: none; }
nav b { flex: 0 0 1.6rem; text-align: right; font-weight: 400; color: var(--dim); }
nav span { flex: 1 1 auto; overflow-wrap: anywhere; }
nav small { color: var(--dim); white-space: nowrap; }
nav a.removed span { text-decoration: line-through; color: var(--dim); }
main { padding: .8rem 1.4rem 60vh; }
section { padding-top: .6rem; margin-bottom: 1.6rem;
  border-top: 1px solid var(--line); }
main > details + section { margin-top: 1rem; }
h2 { font-size: 1.3rem; margin: .3rem 0; }
section h2 small { color: var(--dim); font-weight: 400; }
h2, h3 { overflow-wrap: anywhere; }
h3 { font-size: 1rem; margin: .6rem 0 .3rem; }
.facts { margin: 0; color: var(--dim); }
.versions { margin: .4rem 0; display: flex; flex-wrap: wrap; gap: .3rem; }
.versions a { min-width: 1.9rem; padding: 0 .4rem; text-align: center;
  border: 1px solid var(--line); border-radius: .3rem; }
.versions .removed { color: var(--bad); text-decoration: line-through; }
.versions .deprecated { color: var(--warn); border-style: dashed; }
.versions .unstable { color: var(--odd); border-style: dotted; }
.messages { display: grid; gap: 0 2rem;
  grid-template-columns: repeat(auto-fit, minmax(min(34rem, 100%), 1fr)); }
summary { cursor: pointer; padding: .1rem 0; }
summary span { margin-left: .4rem; font-size: .8rem; color: var(--dim); }
summary .removed { color: var(--bad); }
summary .deprecated { color: var(--warn); }
summary .unstable { color: var(--odd); }
code, .layout { font: 13px/1.45 ui-monospace, "DejaVu Sans Mono", monospace; }
.layout { margin: .2rem 0 .8rem; padding: .6rem 12px; white-space: pre-wrap;
  overflow-wrap: anywhere; background: var(--soft); border-radius: .4rem; }
.layout div { padding-left: calc(4ch + var(--deep, 0ch));
  text-indent: calc(-4ch - var(--deep, 0ch)); }
.layout i { font-style: normal; color: var(--type); }
.layout em { font-style: normal; color: var(--dim); white-space: nowrap; }
.layout .d0 { font-weight: 600; }
.new { box-shadow: inset 3px 0 var(--new); }
p.new { padding-left: 12px; }
.layout .new { margin-left: -12px; border-left: 12px solid transparent; }
main > details { margin-bottom: .3rem; }
main > details ul { columns: 22rem; padding-left: 1.2rem; margin: .4rem 0 1rem; }
li.removed { color: var(--bad); }
::highlight(found) { background: var(--hit); }
#nothing { color: var(--dim); }
[hidden] { display: none !important; }
@media (max-width: 56rem) {
  body { grid-template-columns: minmax(0, 1fr); }
  header { padding: .5rem .8rem; }
  nav { border: 0; border-bottom: 1px solid var(--line); }
  #menu { position: static; max-height: none; padding: .4rem .8rem; }
  #menu[open] { max-height: 60vh; }
  #menu > summary { display: list-item; }
  main { padding: .6rem .8rem 60vh; }
  .layout em { white-space: inherit; }
}
@media print { header, nav { display: none; } body { display: block; } }
""" + "".join(f".d{depth} {{ --deep: {2 * depth}ch; }}\n" for depth in range(1, 9))

_SCRIPT = """
"use strict";
const search = document.getElementById("search");
const count = document.getElementById("count");
const menu = document.getElementById("menu");
const links = new Map([...menu.querySelectorAll("a")].map(
  link => [link.hash.slice(1), link.parentElement]));
const sections = [...document.querySelectorAll("section")].map(element => ({
  element,
  link: links.get(element.id),
  name: [element.id, ...[...element.querySelectorAll("h3")].map(h => h.id)]
    .join(" ").toLowerCase(),
  number: element.querySelector("h2 small")?.textContent ?? "",
  layouts: [...element.querySelectorAll("details")].map(details => ({
    details, text: details.querySelector(".layout").textContent.toLowerCase() })),
}));
const narrow = matchMedia("(max-width: 56rem)");
const fold = () => { menu.open = !narrow.matches; };
narrow.addEventListener("change", fold);
fold();

function mark(element, words, ranges) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.data.toLowerCase();
    for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + 1)) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + words.length);
      ranges.push(range);
    }
  }
}

function find() {
  const words = search.value.trim().toLowerCase();
  const ranges = [];
  let shown = 0;
  for (const { element, link, name, number, layouts } of sections) {
    const named = !words || name.includes(words) || number === words;
    const with_it = layouts.filter(({ text }) => text.includes(words));
    const visible = named || with_it.length > 0;
    element.hidden = link.hidden = !visible;
    shown += visible;
    for (const layout of layouts) {
      layout.details.hidden = !named && !with_it.includes(layout);
    }
    for (const article of element.querySelectorAll("article")) {
      article.hidden = !article.querySelector("details:not([hidden])");
    }
    if (words && !named && visible) {
      for (const { details } of with_it) mark(details, words, ranges);
      if (!with_it.some(({ details }) => details.open)) with_it[0].details.open = true;
    }
  }
  count.textContent = words ? `${shown} of ${sections.length}` : "";
  document.getElementById("nothing").hidden = shown > 0;
  for (const list of menu.querySelectorAll("ul")) {
    const empty = ![...list.children].some(item => !item.hidden);
    list.hidden = list.previousElementSibling.hidden = empty;
  }
  if (CSS.highlights) CSS.highlights.set("found", new Highlight(...ranges));
}

function go() {
  const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!place) return;
  const section = place.closest("section");
  if (section?.hidden) { search.value = ""; find(); }
  const version = place.matches("a") && place.id.split("-")[1];
  if (version) {
    for (const details of section.querySelectorAll("details")) {
      details.open = [...details.querySelectorAll("a[id]")].some(
        anchor => anchor.id.split("-")[1] === version);
    }
  }
  if (narrow.matches) menu.open = false;
  (version ? section : place).scrollIntoView();
}

let waiting;
search.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(find, 80);
});
addEventListener("hashchange", go);
addEventListener("keydown", event => {
  if (event.key === "/" && document.activeElement !== search) {
    event.preventDefault();
    search.select();
  } else if (event.key === "Escape" && search.value) {
    search.value = "";
    find();
  }
});
find();
go();
"""
