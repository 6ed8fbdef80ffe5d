"use strict";
const SIZES = document.querySelector("main").dataset.sizes.split(" ").map(Number);
const places = [];
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
  const one = target.closest("[data-s], [data-u]");
  if (!one) return null;
  // All decompressed values share one span: the compressed bytes.
  const {s, u} = one.dataset;
  return u ? [+u, +u, one] : [+s, +s];
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
    line.textContent = "\u00a0";
    return;
  }
  const [from, to, all] = range, field = all ?? inTree(from);
  const size = starts[to + 1] - starts[from];
  const place = `0x${starts[from].toString(16)}, ${size} byte${size > 1 ? "s" : ""}`;
  const text = field.tagName === "DETAILS" ? "" : field.querySelector("b").textContent;
  const value = text && ` = ${text}`;
  line.textContent = `${place}, ${pathOf(field)}${value}`;
}
function hold(range, from) {
  paint(held, "held", false);
  held = range;
  paint(held, "held", true);
  tell(held);
  if (!held) return;
  const field = held[2] ?? inTree(held[0]);
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
