// The dashboards of ../*.json, as they are, over what the Prometheus that serves this page says.
// The address says what is shown: #PAGE&span=SECONDS&every=SECONDS&job=…&instance=…&line=…

import { isInstant, kinds, node } from "./draw.js";
import { labelValues, metricNames, now, over, scrapeInterval } from "./prometheus.js";

const files = ["overview", "asynchronous", "clients", "experts", "workers", "transport"];
const spans = [["1 min", 60], ["5 min", 300], ["15 min", 900], ["30 min", 1800], ["1 h", 3600], ["6 h", 21600], ["1 d", 86400], ["7 d", 604800]];
const rests = [["off", 0], ["5 s", 5], ["10 s", 10], ["30 s", 30], ["1 min", 60]];
const pages = new Map(); // By uid.
const place = (id) => document.getElementById(id);
let timer = 0;
let shownNow = 0; // Who began later is shown.

const state = () => {
  const [page, ...rest] = location.hash.slice(1).split("&");
  return { page, choices: new URLSearchParams(rest.join("&")) };
};

const go = (page, choices) => {
  location.hash = [page, choices.toString()].filter(Boolean).join("&");
};

async function load() {
  for (const file of files) {
    let page;
    try {
      page = await (await fetch(`../${file}.json`)).json();
    } catch (e) {
      throw new Error(`${file}.json cannot be read: ${e.message}`);
    }
    if (pages.has(page.uid)) throw new Error(`${file}.json has the uid of another dashboard, ${page.uid}`);
    pages.set(page.uid, page);
    place("pages").append(node("a", { "data-uid": page.uid }, page.title.replace("troupe: ", "")));
  }
}

function select(name, label, options, chosen, several) {
  const box = node("select", { name, ...(several ? { multiple: "", size: 1 } : {}) });
  for (const [said, value] of options) {
    const option = node("option", { value }, said);
    option.selected = chosen.includes(String(value));
    box.append(option);
  }
  // A list of many values is as high as what it holds while somebody is at it.
  if (several) {
    box.addEventListener("focus", () => { box.size = Math.min(8, Math.max(2, options.length)); });
    box.addEventListener("blur", () => { box.size = 1; });
  }
  box.addEventListener("change", () => {
    const { page, choices } = state();
    choices.delete(name);
    for (const x of box.selectedOptions) if (x.value !== "") choices.append(name, x.value);
    go(page, choices);
  });
  return node("label", {}, label, box);
}

async function variables(page, choices, span) {
  const values = { __rate_interval: `${Math.ceil(span.rate)}s`, __range: `${span.to - span.from}s` };
  const boxes = [];
  for (const one of page.templating.list) {
    if (one.type === "datasource") continue;
    const known = await labelValues(one.query.query, values, span);
    const chosen = choices.getAll(one.name);
    values[one.name] = { chosen, all: one.allValue };
    const options = [...new Set([...known, ...chosen])].sort((a, b) => a.localeCompare(b, undefined, { numeric: true }));
    boxes.push(select(one.name, one.label, [["all", ""], ...options.map((x) => [x, x])], chosen.length ? chosen : [""], true));
  }
  boxes.push(select("span", "Last", spans, [String(span.to - span.from)]), select("every", "Again after", rests, [choices.get("every") ?? "10"]));
  if (!place("choices").contains(document.activeElement)) place("choices").replaceChildren(...boxes);
  return values;
}

async function marks(page, values, span) {
  const found = [];
  for (const one of page.annotations.list.filter((x) => x.enable)) {
    const put = (format, labels) => format.replace(/\{\{(\w+)\}\}/g, (_, x) => labels[x] ?? "");
    for (const series of await over(one, values, span))
      series.points.forEach(([at], i) => {
        if (i === 0 || at - series.points[i - 1][0] > 1.5 * span.step)
          found.push({ at, color: one.iconColor, words: `${put(one.titleFormat, series.labels)} ${put(one.textFormat, series.labels)}`.trim() });
      });
  }
  return found;
}

// Why nothing is there, as far as that is known here.
function emptiness(panel, names) {
  const asked = panel.targets.flatMap((x) => x.expr.match(/\b(?:troupe|process)_\w+/g) ?? []);
  const missing = [...new Set(asked)].filter((x) => !names.has(x));
  return missing.length ? `no process says ${missing[0]}` : "nothing in this time";
}

async function fill(box, panel, context) {
  const body = box.querySelector(".body");
  const field = panel.fieldConfig.defaults;
  try {
    const ask = isInstant(panel) ? now : over;
    const series = (await Promise.all(panel.targets.map((x) => ask(x, context.values, context.span)))).flat();
    for (const one of box.querySelectorAll(".legend, .scale")) one.remove();
    body.replaceChildren();
    const drawn = series.some((x) => x.points.some((p) => !Number.isNaN(p[1])));
    if (drawn) kinds[panel.type](body, series, field, panel, context.span, context.marks);
    else body.append(node("p", { class: "why" }, emptiness(panel, context.names)));
    box.dataset.drawn = drawn ? "yes" : "empty";
  } catch (e) {
    body.replaceChildren(node("p", { class: "why" }, e.message));
    box.dataset.drawn = "error";
  }
}

function frame(panel, choices) {
  const { x, y, w, h } = panel.gridPos;
  const heading = node("h2", {}, node("span", { title: panel.description }, panel.title));
  for (const link of panel.links) {
    const to = link.url.match(/^\/d\/([\w-]+)/)?.[1];
    if (to) heading.append(node("a", { href: `#${[to, choices.toString()].filter(Boolean).join("&")}`, title: link.title }, "→"));
  }
  return node("section", { "data-panel": panel.title, "data-type": panel.type, "data-drawn": "no",
    style: `grid-area: ${y + 1} / ${x + 1} / span ${h} / span ${w}` }, heading, node("div", { class: "body" }));
}

async function show() {
  clearTimeout(timer);
  const mine = ++shownNow;
  const { page: uid, choices } = state();
  const page = pages.get(uid) ?? pages.values().next().value;
  document.title = page.title;
  place("question").textContent = page.description;
  for (const link of place("pages").children) {
    link.href = `#${[link.dataset.uid, choices.toString()].filter(Boolean).join("&")}`;
    if (link.dataset.uid === page.uid) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  try {
    const length = Number(choices.get("span") ?? 1800);
    const scrape = await scrapeInterval();
    const step = Math.max(1, Math.ceil(scrape), Math.ceil(length / 240));
    const to = Math.floor(Date.now() / 1000);
    // As Grafana: long enough that each step has a rate.
    const span = { from: to - length, to, step, rate: Math.max(step + scrape, 4 * scrape) };
    const values = await variables(page, choices, span);
    const context = { values, span, marks: await marks(page, values, span), names: await metricNames() };
    if (mine !== shownNow) return;
    place("words").textContent = "";
    if (place("panels").dataset.of !== location.hash || !place("panels").children.length) {
      place("panels").replaceChildren(...page.panels.map((x) => frame(x, choices)));
      place("panels").dataset.of = location.hash;
    }
    await Promise.all(page.panels.map((panel, i) => fill(place("panels").children[i], panel, context)));
  } catch (e) {
    place("words").textContent = e.message;
  }
  if (mine !== shownNow) return;
  document.body.dataset.ready = page.uid;
  const rest = Number(choices.get("every") ?? 10);
  if (rest > 0) timer = setTimeout(show, 1000 * rest);
}

try {
  await load();
  addEventListener("hashchange", show);
  addEventListener("resize", show);
  await show();
} catch (e) {
  place("words").textContent = e.message;
  document.body.dataset.ready = "never";
}
