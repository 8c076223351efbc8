// Asks Prometheus, with variables put in as Grafana does.

const escaped = (x) => x.replace(/[\\^$.|?*+()[\]{}]/g, "\\\\$&");

// Chosen: a list of values; none chosen is all of them.
const several = (chosen, all) =>
  chosen.length === 0 ? all : chosen.length === 1 ? escaped(chosen[0]) : `(${chosen.map(escaped).join("|")})`;

export const filled = (text, values) =>
  text.replace(/\$\{(\w+)(?::\w+)?\}|\$(\w+)/g, (said, a, b) => {
    const name = a ?? b;
    if (!(name in values)) throw new Error(`there is no variable '${name}'`);
    const x = values[name];
    return typeof x === "string" ? x : several(x.chosen, x.all);
  });

async function ask(path, parameters) {
  let answer;
  try {
    answer = await fetch(`../../api/v1/${path}?${new URLSearchParams(parameters)}`);
  } catch {
    throw new Error(`no Prometheus answers at ${location.origin}`);
  }
  let said;
  try {
    said = await answer.json();
  } catch {
    throw new Error(`what answers at ${location.origin} is no Prometheus (${answer.status})`);
  }
  if (said.status !== "success") throw new Error(said.error ?? `Prometheus says ${answer.status}`);
  return said.data;
}

const named = (target, labels) => {
  const format = target.legendFormat;
  if (format) return format.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, label) => labels[label] ?? "");
  return Object.entries(labels).filter(([x]) => x !== "__name__").map(([k, v]) => `${k}=${v}`).join(" ") || "value";
};

// [{name, labels, points: [[seconds, value]…]}…]
export async function over(target, values, span) {
  const data = await ask("query_range", { query: filled(target.expr, values), start: span.from, end: span.to, step: span.step });
  return data.result.map((x) => ({
    name: named(target, x.metric), labels: x.metric, points: x.values.map(([t, v]) => [t, Number(v)]),
  }));
}

export async function now(target, values, span) {
  const data = await ask("query", { query: filled(target.expr, values), time: span.to });
  const result = data.resultType === "scalar" ? [{ metric: {}, value: data.result }] : data.result;
  return result.map((x) => ({ name: named(target, x.metric), labels: x.metric, points: [[x.value[0], Number(x.value[1])]] }));
}

export async function labelValues(query, values, span) {
  const [, series, label] = query.match(/^label_values\((.*), (\w+)\)$/) ?? [];
  if (!label) throw new Error(`a variable asks ${query}`);
  return ask(`label/${label}/values`, { "match[]": filled(series, values), start: span.from, end: span.to });
}

export const metricNames = async () => new Set(await ask("label/__name__/values", {}));

// In seconds.
export async function scrapeInterval() {
  const { yaml } = await ask("status/config", {});
  const [, n, unit] = yaml.match(/scrape_interval: (\d+)(m?s|m)\b/) ?? [0, "60", "s"];
  return Number(n) * { ms: 0.001, s: 1, m: 60 }[unit];
}
