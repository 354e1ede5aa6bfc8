// Numbers and times as people read them.

const units = ["B", "KB", "MB", "GB", "TB", "PB"];

export function bytes(n) {
  let unit = 0;
  let value = n;
  while (value >= 999.5 && unit < units.length - 1) { value /= 1000; unit += 1; }
  const digits = unit === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return `${unit === 0 ? Math.round(value) : Number(value.toFixed(digits))} ${units[unit]}`;
}

export function rate(per_second) {
  return `${bytes(per_second)}/s`;
}

export function count(n) {
  return n.toLocaleString("en");
}

export function plural(n, one, many = `${one}s`) {
  return `${count(n)} ${n === 1 ? one : many}`;
}

// 45 s, 12 min, 3 h, 2 days
export function duration(seconds) {
  if (seconds < 90) return `${Math.max(0, Math.round(seconds))} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 129600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} days`;
}

export function ago(time, now = Date.now()) {
  return `${duration((now - Date.parse(time)) / 1000)} ago`;
}

export function in_time(time, now = Date.now()) {
  return `in ${duration((Date.parse(time) - now) / 1000)}`;
}

const clock_format = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const day_format = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

export function clock(time) {
  return clock_format.format(new Date(time));
}

export function moment(time) {
  return day_format.format(new Date(time));
}

// Microseconds: 830 µs, 12 ms, 1.4 s
export function latency(us) {
  if (us < 1000) return `${Math.round(us)} µs`;
  if (us < 1e6) return `${Number((us / 1000).toPrecision(2))} ms`;
  return `${Number((us / 1e6).toPrecision(2))} s`;
}
