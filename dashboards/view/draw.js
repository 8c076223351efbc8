// Draws what a panel asks for into its element. Each kind takes (place, series, field, panel, span, marks).

import { colour, shown, ticksShown, time } from "./units.js";

// Apart in lightness as well, for those who see colours otherwise.
const palette = ["#3274d9", "#e0752d", "#3f9c4a", "#b4406c", "#7a5fc7", "#c9a227", "#1fa3a3", "#8c6d5a", "#d683ce", "#6b7785", "#0d4a8a", "#8f2d1f"];
const lineColour = (i) => palette[i % palette.length];
// Who comes after all colours is dashed, and then dotted.
const turn = (i) => Math.floor(i / palette.length) % 3;
const lineDashes = (i) => ["none", "5 3", "1 3"][turn(i)];

export function node(name, attributes = {}, ...children) {
  const svg = ["svg", "path", "line", "rect", "text", "g", "title", "circle"].includes(name);
  const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const last = (series) => series.points.at(-1)?.[1] ?? null;
const fullestFirst = (series) => [...series].sort((a, b) => last(b) - last(a));

const canvas = (place) => {
  const [w, h] = [place.clientWidth, place.clientHeight];
  const svg = node("svg", { viewBox: `0 0 ${w} ${h}` });
  place.append(svg);
  return { svg, w, h };
};

// Round numbers that part a range; of bytes round as people read them.
function ticks(low, high, wanted, field) {
  const most = Math.max(Math.abs(low), Math.abs(high));
  if (/^b(ytes|inBps)$/.test(field.unit) && most >= 1024) {
    const each = 1024 ** Math.min(4, Math.floor(Math.log2(most) / 10));
    return ticks(low / each, high / each, wanted, {}).map((x) => x * each);
  }
  const rough = (high - low) / wanted || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const least = field.decimals === 0 ? 1 : 0; // Half a client is none.
  const each = [1, 2, 5, 10].map((x) => x * power).find((x) => x >= Math.max(rough, least)) ?? least;
  const out = [];
  for (let x = Math.ceil(low / each) * each; x <= high + each * 1e-9; x += each) out.push(Math.abs(x) < each * 1e-9 ? 0 : x);
  return out;
}

// Lines of a series, apart where values are missing.
function path(points, x, y, step, base) {
  let out = "";
  let run = [];
  const end = () => {
    if (run.length === 0) return;
    const said = run.map(([t, v]) => `${x(t).toFixed(1)},${y(v).toFixed(1)}`);
    if (base) {
      const under = run.map(([t]) => `${x(t).toFixed(1)},${y(base(t)).toFixed(1)}`).reverse();
      out += `M${said.join("L")}L${under.join("L")}Z`;
    } else out += run.length === 1 ? `M${said[0]}h1` : `M${said.join("L")}`;
    run = [];
  };
  for (const [t, v] of points) {
    if (!Number.isFinite(v) || (run.length && t - run.at(-1)[0] > 1.5 * step)) end();
    if (Number.isFinite(v)) run.push([t, v]);
  }
  end();
  return out;
}

function stacked(series) {
  const below = new Map();
  return series.map((one) => {
    const base = new Map(below);
    const points = one.points.map(([t, v]) => {
      const top = (below.get(t) ?? 0) + (Number.isFinite(v) ? v : 0);
      below.set(t, top);
      return [t, top, v];
    });
    return { ...one, points, base: (t) => base.get(t) ?? 0 };
  });
}

function timeAxis(svg, span, x, h, w) {
  const steps = [15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, 86400];
  const each = steps.find((s) => ((span.to - span.from) / s) * 62 <= w) ?? 86400;
  for (let t = Math.ceil(span.from / each) * each; t <= span.to; t += each) {
    if (x(t) < 16 || x(t) > w - (each < 60 ? 26 : 16)) continue;
    svg.append(node("text", { x: x(t), y: h - 3, "text-anchor": "middle" }, time(t, each < 60)));
  }
}

// Two rows of names. How many more there are is said beside them, and shows all.
function legend(place, series, field) {
  const names = node("div");
  series.forEach((one, i) => {
    const value = one.points.at(-1);
    names.append(node("span", {}, node("i", { style: `border-top: 3px ${["solid", "dashed", "dotted"][turn(i)]} ${lineColour(i)}` }), `${one.name} ${shown(value?.[2] ?? value?.[1] ?? null, field)}`));
  });
  const more = node("button", { type: "button" });
  const box = node("div", { class: "legend" }, names, more);
  place.after(box);
  const hidden = () => [...names.children].filter((x) => x.offsetTop - names.offsetTop >= names.clientHeight).length;
  const say = () => {
    const n = box.classList.contains("whole") ? 0 : hidden();
    more.textContent = n > 0 ? `and ${n} more` : "";
    // The words take room, which may hide one more.
    if (n > 0 && hidden() !== n) more.textContent = `and ${hidden()} more`;
  };
  more.addEventListener("click", () => {
    box.classList.add("whole");
    say();
  });
  box.addEventListener("mouseleave", () => {
    box.classList.remove("whole");
    say();
  });
  say();
}

function pointer(svg, tip, w, h, left, span, said) {
  const rule = node("line", { y1: 0, y2: h, stroke: "var(--faint)", "stroke-dasharray": "2 2", visibility: "hidden" });
  svg.append(rule);
  svg.addEventListener("mousemove", (event) => {
    const at = event.offsetX;
    if (at < left) return;
    const t = span.from + ((at - left) / (w - left)) * (span.to - span.from);
    for (const key of ["x1", "x2"]) rule.setAttribute(key, at);
    rule.setAttribute("visibility", "visible");
    tip.textContent = `${time(t, true)}\n${said(t).join("\n")}`;
    tip.hidden = false;
    tip.style.left = `${Math.min(event.clientX + 14, innerWidth - 260)}px`;
    tip.style.top = `${Math.min(event.clientY + 14, innerHeight - tip.clientHeight - 8)}px`;
  });
  svg.addEventListener("mouseleave", () => {
    rule.setAttribute("visibility", "hidden");
    tip.hidden = true;
  });
}

function bounds(drawn, field) {
  const values = drawn.flatMap((one) => one.points.map((x) => x[1])).filter(Number.isFinite);
  let low = Math.min(field.min ?? Infinity, ...values);
  let high = Math.max(field.max ?? -Infinity, ...values);
  if (!Number.isFinite(low)) [low, high] = [0, 1];
  if (low === high) [low, high] = [field.min ?? low - Math.abs(low || 1) / 2, high + Math.abs(high || 1) / 2];
  else high += field.max === undefined ? (high - low) * 0.05 : 0;
  if (field.decimals === 0) high = Math.max(high, low + 1);
  return [low, high];
}

// How many of those that are drawn later lie over this one, mostly.
const covered = (drawn, i, y) =>
  drawn.slice(i + 1).filter((other) => {
    const at = new Map(other.points);
    return 2 * drawn[i].points.filter(([t, v]) => Math.abs(y(v) - y(at.get(t))) < 2).length > drawn[i].points.length;
  }).length;

function timeseries(place, series, field, panel, span, marks) {
  const drawn = field.custom?.stacking?.mode === "normal" ? stacked(series) : series;
  legend(place, drawn, field); // It takes its room first.
  const { svg, w, h } = canvas(place);
  const [low, high] = bounds(drawn, field);
  const [left, bottom] = [58, 16];
  const x = (t) => left + ((t - span.from) / (span.to - span.from)) * (w - left - 4);
  const y = (v) => 5 + (1 - (v - low) / (high - low)) * (h - bottom - 5);
  const levels = ticks(low, high, Math.max(2, h / 38), field);
  const words = ticksShown(levels, field);
  levels.forEach((v, i) => {
    svg.append(node("line", { x1: left, x2: w, y1: y(v), y2: y(v), stroke: "var(--rule)" }));
    svg.append(node("text", { x: left - 5, y: y(v) + 3.5, "text-anchor": "end" }, words[i]));
  });
  timeAxis(svg, span, x, h, w);
  if (field.custom?.thresholdsStyle)
    for (const step of field.thresholds.steps)
      if (step.value !== null && step.value >= low && step.value <= high)
        svg.append(node("line", { x1: left, x2: w, y1: y(step.value), y2: y(step.value), stroke: `var(--${step.color})`, "stroke-dasharray": "6 4" }));
  for (const mark of marks) {
    if (x(mark.at) < left) continue;
    svg.append(node("line", { x1: x(mark.at), x2: x(mark.at), y1: 0, y2: h - bottom, stroke: `var(--${mark.color})`, "stroke-dasharray": "3 3" },
      node("title", {}, mark.words)));
    svg.append(node("path", { d: `M${x(mark.at) - 4},${h - bottom + 5}h8l-4,-6Z`, fill: `var(--${mark.color})` }, node("title", {}, mark.words)));
  }
  drawn.forEach((one, i) => {
    if (one.base && one.points.every((p) => !p[2])) return; // It would lie over the one below.
    const fill = field.custom?.fillOpacity ?? 0;
    if (fill > 0) svg.append(node("path", { d: path(one.points, x, y, span.step, one.base ?? (() => Math.max(low, 0))), fill: lineColour(i), "fill-opacity": fill / 100 }));
    // Lines that lie over each other have an edge each: who is drawn first is widest.
    const width = one.base ? 1.5 : 1.5 + Math.min(4, covered(drawn, i, y) * 1.2);
    svg.append(node("path", { d: path(one.points, x, y, span.step), fill: "none", stroke: lineColour(i), "stroke-width": width, "stroke-dasharray": lineDashes(i) }));
  });
  pointer(svg, document.getElementById("tip"), w, h - bottom, left, span, (t) => {
    const near = (points) => points.reduce((best, p) => (!best || Math.abs(p[0] - t) < Math.abs(best[0] - t) ? p : best), null);
    const said = marks.filter((m) => Math.abs(m.at - t) < 2 * span.step).map((m) => `▲ ${m.words}`);
    const there = drawn.map((one) => [one.name, near(one.points)]).filter(([, p]) => p && Math.abs(p[0] - t) <= 1.5 * span.step);
    const values = there.map(([name, p]) => [name, p[2] ?? p[1]]).sort((a, b) => b[1] - a[1]);
    const more = values.splice(20).length; // Of those that have most; the legend has all.
    return [...said, ...values.map(([name, v]) => `${name}  ${shown(v, field)}`), ...(more > 0 ? [`and ${more} more`] : [])];
  });
}

function stat(place, series, field, panel, span) {
  const one = series[0];
  const value = last(one);
  if (one.points.length > 1 && panel.options?.graphMode === "area") {
    const { svg, w, h } = canvas(place);
    const [low, high] = bounds([one], { min: undefined });
    const x = (t) => ((t - span.from) / (span.to - span.from)) * w;
    const y = (v) => h * 0.62 + (1 - (v - low) / (high - low)) * h * 0.36;
    svg.append(node("path", { d: path(one.points, x, y, span.step, () => low), fill: colour(value, field), "fill-opacity": 0.15 }));
    svg.append(node("path", { d: path(one.points, x, y, span.step), fill: "none", stroke: colour(value, field), "stroke-opacity": 0.7 }));
  }
  place.append(node("div", { class: "value", style: `color:${colour(value, field)}` }, shown(value, field)));
}

function bargauge(place, series, field) {
  const most = field.max ?? Math.max(...series.map(last).filter(Number.isFinite), 0);
  const box = node("div", { class: "scroll" });
  for (const one of fullestFirst(series)) {
    const share = most > 0 ? Math.min(1, Math.max(0, last(one) / most)) : 0;
    box.append(node("div", { class: "bar" }, node("b", { title: one.name }, one.name),
      node("div", {}, node("i", { style: `width:${100 * share}%;background:${colour(last(one), field)}` })), node("span", {}, shown(last(one), field))));
  }
  place.append(box);
}

// Of more than six those that are least full are behind "and n more", which shows all.
function gauge(place, series, field) {
  const box = node("div", { class: "gauges" });
  const more = node("button", { type: "button" });
  place.append(box);
  const figures = fullestFirst(series).map((one) => dial(one, field));
  box.append(...figures, more);
  const show = (whole) => {
    box.classList.toggle("whole", whole);
    figures.forEach((x, i) => { x.hidden = !whole && i >= 6; });
    const n = figures.filter((x) => x.hidden).length;
    more.textContent = n > 0 ? `and ${n} more` : "";
  };
  more.addEventListener("click", () => show(true));
  box.addEventListener("mouseleave", () => show(false));
  show(false);
}

// A half circle, with its thresholds around it.
function dial(one, field) {
  const [low, high] = [field.min ?? 0, field.max ?? 1];
  const arc = (from, to, r) => {
    const at = (share) => [50 - r * Math.cos(Math.PI * share), 56 - r * Math.sin(Math.PI * share)].map((x) => x.toFixed(2)).join(" ");
    return `M${at(from)}A${r} ${r} 0 0 1 ${at(to)}`;
  };
  const share = (x) => Math.min(1, Math.max(0, (x - low) / (high - low)));
  const svg = node("svg", { viewBox: "0 0 100 76" }, node("path", { d: arc(0, 1, 38), stroke: "var(--rule)", "stroke-width": 9, fill: "none" }),
    node("path", { d: arc(0, share(last(one)), 38), stroke: colour(last(one), field), "stroke-width": 9, fill: "none" }));
  const steps = field.thresholds.steps;
  steps.forEach((step, i) => {
    const from = step.value === null ? 0 : share(step.value);
    const to = i + 1 < steps.length ? share(steps[i + 1].value) : 1;
    svg.append(node("path", { d: arc(from, to, 45), stroke: `var(--${step.color})`, "stroke-width": 2, fill: "none" }));
  });
  svg.append(node("text", { x: 50, y: 54, "text-anchor": "middle", style: `font-size:13px;fill:${colour(last(one), field)}` }, shown(last(one), field)),
    node("text", { x: 50, y: 70, "text-anchor": "middle", style: "font-size:7px" }, one.name));
  return node("figure", {}, svg);
}

function table(place, series, field, panel) {
  const { excludeByName = {}, renameByName = {} } = panel.transformations?.find((x) => x.id === "organize")?.options ?? {};
  const names = [...new Set(series.flatMap((x) => Object.keys(x.labels))), "Value"].filter((x) => !excludeByName[x]);
  const rows = series.map((one) => names.map((x) => (x === "Value" ? shown(last(one), field) : one.labels[x] ?? "")));
  place.append(node("div", { class: "scroll" }, node("table", {}, node("thead", {}, node("tr", {}, ...names.map((x) => node("th", {}, renameByName[x] ?? x)))),
    node("tbody", {}, ...rows.map((row) => node("tr", {}, ...row.map((x) => node("td", {}, x))))))));
}

const heat = (share) => `rgba(var(--heat), ${0.12 + 0.88 * share})`;

// Which colour is how many a second.
function scale(place, most) {
  const steps = [0.02, 0.25, 0.5, 0.75, 1];
  place.after(node("div", { class: "scale" }, "a second: ", ...steps.map((x) => node("span", {},
    node("i", { style: `background:${heat(x)}` }), shown(x * most, { unit: "none" })))));
}

// Of cumulative buckets, named by their bounds.
function heatmap(place, series, field, panel, span) {
  const rows = [...series].sort((a, b) => Number(a.labels.le.replace("+Inf", "Infinity")) - Number(b.labels.le.replace("+Inf", "Infinity")));
  const cells = rows.map((row, i) => {
    const under = new Map(i > 0 ? rows[i - 1].points : []);
    return row.points.map(([t, v]) => [t, Math.max(0, v - (under.get(t) ?? 0))]);
  });
  let [first, end] = [cells.findIndex((x) => x.some((c) => c[1] > 0)), cells.findLastIndex((x) => x.some((c) => c[1] > 0))];
  if (first < 0) [first, end] = [0, cells.length - 1];
  first = Math.max(0, first - 1);
  const most = Math.max(...cells.flat().map((c) => c[1]), 1e-12);
  scale(place, most); // It takes its room first.
  const { svg, w, h } = canvas(place);
  const [left, bottom] = [58, 16];
  const x = (t) => left + ((t - span.from) / (span.to - span.from)) * (w - left - 4);
  const high = (h - bottom) / (end - first + 1);
  for (let i = first; i <= end; ++i) {
    const top = (end - i) * high;
    const bound = rows[i].labels.le === "+Inf" ? "more" : `≤ ${shown(Number(rows[i].labels.le), field)}`;
    if (high > 11 || (i - first) % Math.ceil(11 / high) === 0)
      svg.append(node("text", { x: left - 5, y: top + high / 2 + 3.5, "text-anchor": "end" }, bound));
    for (const [t, v] of cells[i])
      if (v > 0) {
        const from = Math.max(left, x(t - span.step)); // Not over the words.
        svg.append(node("rect", { x: from, y: top + 0.5, width: Math.max(1, x(t) - from - 0.5), height: Math.max(1, high - 1),
          fill: heat(v / most) }, node("title", {}, `${time(t, true)}  ${bound}: ${v.toPrecision(3)}/s`)));
      }
  }
  timeAxis(svg, span, x, h, w);
}

export const kinds = { timeseries, stat, gauge, bargauge, table, heatmap };
export const isInstant = (panel) => ["gauge", "bargauge", "table"].includes(panel.type);
