# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Byte maps as one HTML page that needs nothing else: the bytes left, the tree right.

All of it is in the page as text; the script only highlights what belongs together.
The middle of long values is left out, so that a page grows with the number of values.
"""

from __future__ import annotations

import re
from html import escape

from ..plain_text import count_text
from .byte_map_rows import value_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..byte_map import ByteMap, Span
    from .output import Output

_ROW = 16
"""Bytes in a line."""

_HEAD, _TAIL = 16 * _ROW, 2 * _ROW
"""Bytes at the ends of a long value that are shown of it."""

_MANY = 40
"""Elements of an array above which they are folded."""

_CLASSES = {
    **dict.fromkeys(("number", "bool"), "n"),
    "text": "t",
    **dict.fromkeys(("bytes", "unknown", "compressed", "cut"), "y"),
    **dict.fromkeys(("uuid", "timestamp", "checksum"), "o"),
    "structure": "s",
    **dict.fromkeys(("damaged", "unread"), "x"),
}
"""The class of each kind of span; they are short, as every value has one thrice."""

_STEP = re.compile(r"\[\d+\]|[^.\[\]]+")


def write_page(
    output: Output, data: bytes, maps: Sequence[ByteMap], title: str
) -> None:
    """Write the page of an input and its maps."""
    spans = [span for found in maps for span in found.spans]
    problems = [str(found.error) for found in maps if found.error is not None]
    problems += [
        f"record set: {error}"
        for found in maps
        for error in found.damage
        if error is not found.error
    ]
    summary = f"{count_text(len(data), 'byte')}, {count_text(len(spans), 'value')}"
    output.write(_BEFORE.format(title=escape(title), style=_STYLE, summary=summary))
    for problem in problems:
        output.write(f"<p class=problem>{escape(problem)}</p>\n")
    output.write("</header>\n<main>\n<section id=bytes>\n")
    for line in _byte_lines(data, spans):
        output.write(f"{line}\n")
    output.write("</section>\n<section id=tree>\n")
    for line in _Tree(spans).lines():
        output.write(f"{line}\n")
    sizes = ",".join(str(span.size) for span in spans)
    output.write(_AFTER.format(sizes=sizes, script=_SCRIPT))


def _byte_lines(data: bytes, spans: Sequence[Span]) -> Iterator[str]:
    """Write lines of 16 bytes, each cut at the ends of spans."""
    digits = max(4, len(f"{len(data):x}"))
    index = 0
    hidden = 0
    for start in range(0, len(data), _ROW):
        end = min(start + _ROW, len(data))
        while spans[index].end <= start:
            index += 1
        span = spans[index]
        if span.offset + _HEAD <= start and end <= span.end - _TAIL:
            hidden += end - start
            continue
        if hidden:
            yield f"<div class=more>{count_text(hidden, 'byte')} more</div>"
            hidden = 0
        left, right = [], []
        number, at = index, start
        while at < end:
            stop = min(spans[number].end, end)
            piece = data[at:stop]
            word = _CLASSES[spans[number].kind]
            mark = f"data-s={number} class={word}"
            if number % 2:
                mark = f'data-s={number} class="{word} odd"'
            left.append(f"<b {mark}>{piece.hex(' ')}</b>")
            right.append(f"<b {mark}>{escape(_ascii(piece))}</b>")
            number, at = number + 1, stop
        gap = "   " * (start + _ROW - end)
        yield (
            f"<div><i>{start:0{digits}x}</i>  {' '.join(left)}{gap}  "
            f"{''.join(right)}</div>"
        )


def _ascii(piece: bytes) -> str:
    return "".join(chr(byte) if 32 <= byte < 127 else "·" for byte in piece)


class _Node:
    """A step of a path: the spans that end there, and the steps below it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.own: list[int] = []
        self.below: dict[str, _Node] = {}

    def add(self, steps: Sequence[str], number: int) -> None:
        node = self
        for step in steps:
            node = node.below.setdefault(step, _Node(step))
        node.own.append(number)

    def ends(self) -> tuple[int, int]:
        """Number the first and the last span of the node."""
        found = list(self.own)
        if self.below:
            each = list(self.below.values())
            found += each[0].ends()[0], each[-1].ends()[1]
        return min(found), max(found)


class _Tree:
    """The spans by their paths."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._spans = spans
        self._roots: list[_Node] = []
        part = None
        for number, span in enumerate(spans):
            if span.part != part or (span.part, span.path) == ("frame", "size"):
                part = span.part
                self._roots.append(_Node(part))
            self._roots[-1].add(_STEP.findall(span.path) or [span.kind], number)

    def lines(self) -> Iterator[str]:
        """Write the lines of the tree."""
        for root in self._roots:
            yield from self._node(root, False)

    def _node(self, node: _Node, folded: bool) -> Iterator[str]:
        if not node.below:
            yield from self._leaves(node.name, node.own)
            return
        first, last = node.ends()
        # Counts, tags and sizes stand before what is below, what cannot be read behind.
        before = [n for n in node.own if self._spans[n].kind == "structure"]
        text = f"<u>{escape(node.name)}</u>"
        if before:
            head = before[0]
            text = f"<span {self._mark(head)}>{self._text(node.name, head)}</span>"
        opened = "" if folded else " open"
        yield (
            f"<details{opened}><summary data-a={first} data-z={last}>{text}</summary>"
        )
        yield from self._leaves(node.name, before[1:])
        many = len(node.below) > _MANY
        for each in node.below.values():
            yield from self._node(each, many)
        yield from self._leaves(node.name, [n for n in node.own if n not in before])
        yield "</details>"

    def _leaves(self, name: str, numbers: Sequence[int]) -> Iterator[str]:
        for number in numbers:
            yield f"<div {self._mark(number)}>{self._text(name, number)}</div>"

    def _mark(self, number: int) -> str:
        return f"data-s={number} class={_CLASSES[self._spans[number].kind]}"

    def _text(self, name: str, number: int) -> str:
        span = self._spans[number]
        kind = f" <small>{span.type}</small>" if span.type else ""
        return f"<u>{escape(name)}</u>{kind} <b>{escape(value_text(span))}</b>"


_BEFORE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header>
<h1>{title}</h1>
<p>{summary}. Point at bytes or fields; a click holds them, arrow keys go on.</p>
"""

_AFTER = """</section>
</main>
<footer id=status>&nbsp;</footer>
<script>
const SIZES = [{sizes}];
{script}</script>
</body>
</html>
"""

_STYLE = """
:root { color-scheme: light dark; --back: #fff; --fore: #1b1f24; --faint: #6a737d;
  --line: #d8dee4; --odd: #f0f3f6; --over: #fff3c4; --held: #ffd75e; --number: #0550ae;
  --text: #116329; --bytes: #8a4600; --other: #6639ba; --bad: #cf222e; }
@media (prefers-color-scheme: dark) { :root { --back: #0d1117; --fore: #e6edf3;
  --faint: #8b949e; --line: #30363d; --odd: #1c232c; --over: #3b3212; --held: #6b5a10;
  --number: #79c0ff; --text: #7ee787; --bytes: #ffa657; --other: #d2a8ff;
  --bad: #ff7b72; } }
* { box-sizing: border-box; }
body { margin: 0; height: 100vh; display: flex; flex-direction: column;
  background: var(--back); color: var(--fore); font: 14px/1.5 system-ui, sans-serif; }
header { padding: .6rem 1rem; border-bottom: 1px solid var(--line); }
h1 { margin: 0; font-size: 1.05rem; overflow-wrap: anywhere; }
header p { margin: 0; color: var(--faint); }
header .problem { color: var(--bad); font-weight: 600; }
main { flex: 1; min-height: 0; display: flex; }
section { overflow: auto; padding: .6rem 1rem; }
#bytes, #tree, #status { font: 13px/1.55 ui-monospace, Menlo, Consolas, monospace; }
#bytes { flex: none; border-right: 1px solid var(--line); }
#bytes div { white-space: pre; }
#bytes i { font-style: normal; color: var(--faint); user-select: none; }
#bytes .more { color: var(--faint); padding-left: 6ch; }
#tree { flex: 1; min-width: 0; }
#tree details > :not(summary) { margin-left: 1.4rem; }
#tree div, #tree summary { overflow-wrap: anywhere; border-radius: 3px;
  padding: 0 .3rem; }
summary { cursor: pointer; }
u { text-decoration: none; }
small { color: var(--faint); font-size: .85em; margin: 0 .4ch; }
b { font-weight: normal; border-radius: 3px; cursor: default; }
.n b, b.n { color: var(--number); }
.t b, b.t { color: var(--text); }
.y b, b.y { color: var(--bytes); }
.o b, b.o { color: var(--other); }
.s b, b.s { color: var(--faint); }
.x b, b.x { color: var(--bad); }
b.odd { background: var(--odd); }
.over, b.over { background: var(--over); }
.held, b.held { background: var(--held); }
#status { padding: .25rem 1rem; border-top: 1px solid var(--line); overflow: hidden;
  white-space: nowrap; text-overflow: ellipsis; }
@media (max-width: 60rem) { main { flex-direction: column; }
  #bytes { flex: 1 1 45%; border-right: 0; border-bottom: 1px solid var(--line); }
  #tree { flex: 1 1 55%; } }
"""

_SCRIPT = """const places = [];
for (const each of document.querySelectorAll("[data-s]"))
  (places[each.dataset.s] ??= []).push(each);
const tree = document.getElementById("tree"), bytes = document.getElementById("bytes");
const line = document.getElementById("status");
const starts = [0];
for (const size of SIZES) starts.push(starts.at(-1) + size);
let held = null;

function rangeOf(target) {
  const all = target.closest("summary");
  if (all) return [+all.dataset.a, +all.dataset.z, all.parentElement];
  const one = target.closest("[data-s]")?.dataset;
  return one ? [+one.s, +one.s] : null;
}
function paint(range, name, on) {
  if (!range) return;
  for (let at = range[0]; at <= range[1]; at++)
    for (const each of places[at] ?? []) each.classList.toggle(name, on);
}
function inTree(number) {
  return (places[number] ?? []).find(each => tree.contains(each));
}
function inBytes(number) {
  return (places[number] ?? []).find(each => bytes.contains(each));
}
function pathOf(field) {
  let path = "";
  for (let up = field; up && up !== tree; up = up.parentElement) {
    const name = up.tagName === "DETAILS" ? up.querySelector("summary u")
      : up.tagName === "DIV" ? up.querySelector("u") : null;
    if (!name) continue;
    const step = name.textContent, root = up.parentElement === tree;
    path = !path ? step : step + (root ? ": " : path[0] === "[" ? "" : ".") + path;
  }
  return path;
}
function tell(range) {
  if (!range) {
    line.textContent = "\\u00a0";
    return;
  }
  const [from, to, all] = range, field = all ?? inTree(from);
  const size = starts[to + 1] - starts[from];
  const place = `0x${starts[from].toString(16)}, ${size} byte${size > 1 ? "s" : ""}`;
  const value = all ? "" : ` = ${field.querySelector("b").textContent}`;
  line.textContent = `${place}, ${pathOf(field)}${value}`;
}
function hold(range, from) {
  paint(held, "held", false);
  held = range;
  paint(held, "held", true);
  tell(held);
  if (!held) return;
  const field = inTree(held[0]);
  for (let up = field?.parentElement; up && up !== tree; up = up.parentElement)
    if (up.tagName === "DETAILS") up.open = true;
  if (from !== tree) field?.scrollIntoView({block: "nearest"});
  if (from !== bytes) inBytes(held[0])?.scrollIntoView({block: "nearest"});
}
for (const pane of [bytes, tree]) {
  let over = null;
  pane.addEventListener("mouseover", event => {
    paint(over, "over", false);
    over = rangeOf(event.target);
    paint(over, "over", true);
    tell(over ?? held);
  });
  pane.addEventListener("mouseleave", () => {
    paint(over, "over", false);
    over = null;
    tell(held);
  });
  pane.addEventListener("click", event => hold(rangeOf(event.target), pane));
}
document.addEventListener("keydown", event => {
  const step = {ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1}[event.key];
  if (!step || !places.length) return;
  const next = held ? (step > 0 ? held[1] : held[0]) + step : 0;
  if (next < 0 || next >= places.length) return;
  event.preventDefault();
  hold([next, next], null);
});
"""
