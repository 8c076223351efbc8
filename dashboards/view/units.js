// Numbers as people read them, in the units that the dashboards have.

const digits = (x, n) => {
  if (n !== undefined) return x.toFixed(n);
  if (x === 0) return "0";
  const size = Math.abs(x);
  return size >= 100 || Number.isInteger(x) ? x.toFixed(0) : size >= 10 ? x.toFixed(1) : size >= 0.01 ? x.toFixed(2) : x.toPrecision(2);
};

const scaled = (x, base, names, n) => {
  let i = 0;
  while (Math.abs(x) >= base && i + 1 < names.length) {
    x /= base;
    ++i;
  }
  return digits(x, i === 0 && Number.isInteger(x) ? 0 : n) + names[i];
};

const spans = [[1e-6, "µs", 1e-6], [1e-3, "ms", 1], [1, "s", 60], [60, "min", 3600], [3600, "h", 86400], [86400, "d", Infinity]];

const duration = (x, n) => {
  if (x === 0) return "0 s";
  const size = Math.abs(x);
  const [each, name] = size < 1e-3 ? spans[0] : spans.slice(1).find(([, , below]) => size < below);
  return `${digits(x / each, n)} ${name}`;
};

export const units = {
  none: (x, n) => digits(x, n),
  percentunit: (x, n) => `${digits(100 * x, n ?? (Math.abs((100 * x) % 1) < 0.05 ? 0 : 1))} %`,
  s: duration,
  bytes: (x, n) => scaled(x, 1024, [" B", " KiB", " MiB", " GiB", " TiB"], n),
  binBps: (x, n) => scaled(x, 1024, [" B/s", " KiB/s", " MiB/s", " GiB/s"], n),
  ops: (x, n) => `${scaled(x, 1000, ["", " K", " M"], n)}/s`,
  reqps: (x, n) => `${scaled(x, 1000, ["", " K", " M"], n)}/s`,
  dateTimeAsIso: (x) => new Date(x).toISOString().replace("T", " ").slice(0, 19),
};

export const shown = (x, field) => {
  if (x === null || Number.isNaN(x)) return "–";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "-∞";
  return units[field.unit](x, field.decimals);
};

// Of an axis: with as many digits as its ticks need, which may be closer to each other than values are told.
export const ticksShown = (values, field) => {
  const said = [undefined, ...Array(13).keys()].map((decimals) => values.map((x) => shown(x, { ...field, decimals })));
  const exact = said.at(-1).map((x) => parseFloat(x));
  const gap = Math.min(...exact.slice(1).map((x, i) => Math.abs(x - exact[i])));
  return said.find((words) => words.every((x, i) => Math.abs(parseFloat(x) - exact[i]) <= gap / 20)) ?? said[0];
};

// The colour that a value's threshold has.
export const colour = (x, field) => {
  let found = field.thresholds.steps[0].color;
  for (const step of field.thresholds.steps) if (step.value !== null && x >= step.value) found = step.color;
  return `var(--${found})`;
};

export const time = (seconds, long) => {
  const t = new Date(1000 * seconds);
  return t.toTimeString().slice(0, long ? 8 : 5);
};
