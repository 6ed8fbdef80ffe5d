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
