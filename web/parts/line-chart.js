// <line-chart>: lines over time with axes, a readout under the pointer or the arrow keys, and a table of the same.
// show({title, from, step, lines: [{name, values}], format}); a value may be null.
import { el, replace, svg } from "../lib/dom.js";
import { clock } from "../lib/format.js";

const height = 208, left = 64, right = 8, top = 10, bottom = 24;

// 1, 2 or 5 times a power of ten, so that four or so steps reach the largest value.
function nice_step(most) {
  const rough = most / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((n) => n * power).find((step) => step >= rough);
}

class LineChart extends HTMLElement {
  #shown = null;
  #at = null;
  #picture = svg("svg", { role: "img", tabindex: "0" });
  #legend = el("div", { class: "legend" });
  #table = el("details", {}, el("summary", { text: "Show as a table" }), el("div", { class: "table", tabindex: "0", role: "region" }));
  #resized = new ResizeObserver(() => this.#draw());

  connectedCallback() {
    replace(this, this.#legend, this.#picture, this.#table);
    this.#resized.observe(this);
    this.#picture.addEventListener("pointermove", (event) => {
      const box = this.#picture.getBoundingClientRect();
      this.#point((event.clientX - box.left - left) / Math.max(1, box.width - left - right));
    });
    this.#picture.addEventListener("pointerleave", () => this.#point(null));
    this.#picture.addEventListener("blur", () => this.#point(null));
    this.#picture.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step || !this.#shown) return;
      event.preventDefault();
      const last = this.#count() - 1;
      this.#at = Math.max(0, Math.min(last, (this.#at ?? last) + step));
      this.#draw();
    });
    this.#table.addEventListener("toggle", () => this.#write_table());
  }
  disconnectedCallback() { this.#resized.disconnect(); }

  show(what) {
    this.#shown = what;
    this.#table.lastChild.setAttribute("aria-label", `${what.title}, as a table`);
    this.#draw();
    this.#write_table();
  }

  #count() { return this.#shown.lines[0].values.length; }
  #time(i) { return Date.parse(this.#shown.from) + i * this.#shown.step * 1000; }

  #point(share) {
    if (!this.#shown) return;
    const at = share === null ? null : Math.round(share * (this.#count() - 1));
    const inside = at !== null && at >= 0 && at < this.#count() ? at : null;
    if (inside === this.#at) return;
    this.#at = inside;
    this.#draw();
  }

  #draw() {
    const width = this.clientWidth;
    if (!this.#shown || !width) return;
    const { title, lines, format } = this.#shown;
    const count = this.#count();
    const largest = Math.max(0, ...lines.flatMap((line) => line.values.filter((v) => v !== null)));
    const step = nice_step(largest || 4);
    const most = Math.max(step, Math.ceil(largest / step) * step);
    const x = (i) => left + ((width - left - right) * i) / Math.max(1, count - 1);
    const y = (v) => top + (height - top - bottom) * (1 - v / most);
    const parts = [];
    for (let v = 0; v <= most * 1.0001; v += step) {
      parts.push(svg("line", { class: "grid", x1: left, x2: width - right, y1: y(v), y2: y(v) }));
      parts.push(svg("text", { x: left - 8, y: y(v) + 4, "text-anchor": "end", text: format(v) }));
    }
    const marks = Math.max(2, Math.min(7, Math.floor(width / 110)));
    for (let k = 0; k < marks; k += 1) {
      const i = Math.round(((count - 1) * k) / (marks - 1));
      parts.push(svg("text", { x: x(i), y: height - 4, "text-anchor": k === 0 ? "start" : k === marks - 1 ? "end" : "middle",
        text: clock(this.#time(i)).slice(0, 5) }));
    }
    lines.forEach((line, n) => {
      let path = "", pen = false, begin = 0, areas = "";
      line.values.forEach((v, i) => {
        if (v === null) {
          if (pen) areas += `L${x(i - 1).toFixed(1)} ${y(0)}L${x(begin).toFixed(1)} ${y(0)}Z`;
          pen = false;
          return;
        }
        const point = `${x(i).toFixed(1)} ${y(v).toFixed(1)}`;
        if (!pen) { begin = i; areas += `M${point}`; } else areas += `L${point}`;
        path += (pen ? "L" : "M") + point;
        pen = true;
      });
      if (pen) areas += `L${x(count - 1).toFixed(1)} ${y(0)}L${x(begin).toFixed(1)} ${y(0)}Z`;
      if (lines.length === 1 && areas) parts.push(svg("path", { class: "fill", d: areas }));
      parts.push(svg("path", { class: `s${n}`, d: path || "M0 0" }));
    });
    const at = this.#at;
    if (at !== null) parts.push(svg("line", { class: "cursor", x1: x(at), x2: x(at), y1: top, y2: y(0) }));
    const last = at ?? lines[0].values.findLastIndex((v) => v !== null);
    const value = (line) => (last >= 0 && line.values[last] !== null ? format(line.values[last]) : "–");
    replace(this.#legend, lines.map((line, n) => el("span", {},
      svg("svg", { viewBox: "0 0 26 10", "aria-hidden": "true" }, svg("path", { class: `s${n}`, d: "M0 5H26" })),
      `${line.name} ${value(line)}`)), at !== null && el("span", { text: clock(this.#time(at)) }));
    this.#picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.#picture.setAttribute("aria-label", `${title}: ${lines.map((line) => `${line.name} ${value(line)}`).join(", ")}. Left and right arrow keys move through time; a table follows.`);
    replace(this.#picture, ...parts);
  }

  // A dozen rows: each the largest value of its stretch of time. Only while somebody looks.
  #write_table() {
    if (!this.#shown || !this.#table.open) return;
    const { title, lines, format } = this.#shown;
    const stretch = Math.max(1, Math.ceil(this.#count() / 12));
    const rows = [];
    for (let i = 0; i < this.#count(); i += stretch) {
      const cells = lines.map((line) => {
        const values = line.values.slice(i, i + stretch).filter((v) => v !== null);
        return el("td", { class: "number", text: values.length ? format(Math.max(...values)) : "–" });
      });
      rows.push(el("tr", {}, el("th", { scope: "row", text: clock(this.#time(i)) }), cells));
    }
    replace(this.#table.lastChild, el("table", {}, el("caption", { class: "unseen", text: `${title}, the largest value from each time on` }),
      el("thead", {}, el("tr", {}, el("th", { scope: "col", text: "From" }), lines.map((line) => el("th", { scope: "col", class: "number", text: line.name })))),
      el("tbody", {}, rows)));
  }
}
customElements.define("line-chart", LineChart);
