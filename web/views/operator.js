// Operator: the whole place. Figures every ten seconds, charts of the last hours, every workspace.
import { ApiError, backoff, call, pause } from "../lib/api.js";
import { el, note, replace, set_text } from "../lib/dom.js";
import { ago, bytes, count, duration, latency, moment, plural, rate } from "../lib/format.js";
import { forget, token_for } from "../lib/session.js";
import { words_for } from "../lib/words.js";
import { leave_button } from "../parts/token-gate.js";
import "../parts/line-chart.js";
import "../parts/place-list.js";

const every = 10;
const spans = [[15, "15 minutes"], [60, "An hour"], [180, "3 hours"]];

export async function show(main, signal) {
  const token = token_for("operator");
  if (!token) return ask(main, signal);
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      return await open(main, signal, token);
    } catch (error) {
      if (error.name === "AbortError") return;
      if (error.refused) forget("operator");
      if (!error.passing) return ask(main, signal, error);
      replace(main, el("h1", { text: "Operator" }), el("div", { class: "section" }, note("warn", words_for(error))));
      await pause(backoff(failures), signal);
    }
  }
}

function ask(main, signal, problem) {
  const gate = el("token-gate");
  replace(main, el("h1", { text: "Operator" }), el("p", { class: "lead", text: "Enter the admin token to see the whole place." }), el("div", { class: "section" }, gate));
  gate.ask({ view: "operator", label: "Admin token", hint: "The server reads it from --admin-token-file or RESTANTE_ADMIN_TOKEN.", problem,
    check: (token) => open(main, signal, token) });
}

async function open(main, signal, token) {
  const who = await call("GET", "/token", { token, signal });
  if (who.scope !== "admin") throw new ApiError(401, { code: "invalid_admin_token" });
  const overview = await call("GET", "/admin/overview", { token, signal });
  if (!signal.aborted) new OperatorView(main, signal, token, overview);
}

// "Requests": [[line, column, divided by seconds?]…], how its values are written
const charts = [
  ["Requests a second", [["requests", "requests", true], ["uploads", "uploads", true], ["server errors", "errors", true]], (v) => `${Number(v.toPrecision(3))}/s`],
  ["Bytes received", [["received", "bytes", true]], rate],
  ["Bytes waiting", [["waiting", "waiting_bytes", false]], bytes],
  ["Time to answer", [["half within", "p50_us", false], ["95 % within", "p95_us", false], ["99 % within", "p99_us", false]], latency],
];

class OperatorView {
  #figures = el("div", { class: "figures" });
  #pictures = charts.map(() => el("line-chart"));
  #span = el("select", { "aria-label": "Span of the charts" }, spans.map(([value, text]) => el("option", { value, text, selected: value === 60 })));
  #places = el("place-list", { class: "section" });
  #rooms = el("div", { class: "pair" });
  #trouble = el("div");
  #partial = el("p", { class: "small soft" });

  constructor(main, signal, token, overview) {
    Object.assign(this, { signal, token });
    replace(main,
      el("div", { class: "row apart" }, el("h1", { text: "Operator" }), leave_button("operator")), this.#trouble, this.#figures,
      el("section", { class: "section", "aria-labelledby": "over-time" }, el("div", { class: "row apart" }, el("h2", { id: "over-time", text: "Over time" }), this.#span), this.#partial,
        el("div", { class: "charts" }, charts.map(([title], i) => el("div", {}, el("h3", { text: title }), this.#pictures[i])))),
      this.#places, el("section", { class: "section", "aria-labelledby": "rooms" }, el("h2", { id: "rooms", text: "Behind it" }), this.#rooms));
    this.#show(overview);
    this.#places.start(token, signal);
    this.#span.addEventListener("change", () => this.#load_series());
    this.#load_series();
    this.#run();
  }

  async #run() {
    for (let failures = 0; ; ) {
      await pause(failures ? Math.min(every, backoff(failures)) : every, this.signal);
      if (this.signal.aborted) return;
      this.#load_series();
      try {
        this.#show(await call("GET", "/admin/overview", { token: this.token, signal: this.signal }));
        this.#places.refresh();
        replace(this.#trouble);
        failures = 0;
      } catch (error) {
        if (error.name === "AbortError") return;
        replace(this.#trouble, note(error.passing ? "warn" : "bad", words_for(error)));
        if (error.status === 401) return forget("operator");
        failures += 1;
      }
    }
  }

  async #load_series() {
    try {
      const series = await call("GET", `/admin/series?minutes=${this.#span.value}`, { token: this.token, signal: this.signal });
      set_text(this.#partial, series.all_servers ? "" : "The database does not answer: these are the figures of one server alone.");
      charts.forEach(([title, lines, format], i) => this.#pictures[i].show({ title, from: series.from, step: series.step_seconds, format,
        lines: lines.map(([name, column, per_second]) => ({ name, values: per_second ? series[column].map((v) => (v === null ? null : v / series.step_seconds)) : series[column] })) }));
    } catch { /* the figures say what is wrong */ }
  }

  #show({ waiting, workspaces, quota, sweep, servers, database, content_store, version }) {
    const more = (n) => `${count(n)}${workspaces.at_least ? "+" : ""}`;
    const figure = (name, value, of) => el("div", {}, el("h2", { text: name }), el("p", { class: "value", text: value }), el("p", { class: "of", text: of }));
    replace(this.#figures,
      figure("Waiting", `${waiting.estimated ? "≈ " : ""}${count(waiting.files)}`, `${waiting.files === 1 ? "file" : "files"}, ${bytes(waiting.bytes)}`),
      figure("Oldest", waiting.oldest_seconds === null ? "–" : duration(waiting.oldest_seconds), `${count(waiting.never_fetched)} never fetched`),
      figure("Workspaces", more(workspaces.poll + workspaces.push), `${count(workspaces.online)} online, ${count(workspaces.offline)} offline`),
      figure("Servers", count(servers.length), `version ${version}`),
      figure("Last sweep", sweep.finished_at ? ago(sweep.finished_at) : "–", sweep.error ? "failed" : `${count(sweep.acked + sweep.expired)} removed`));
    const fact = (name, value) => el("div", {}, el("dt", { text: name }), el("dd", { text: value }));
    replace(this.#rooms,
      el("div", {}, el("h3", { text: "Servers" }), el("ul", { class: "plain" }, servers.map((each) => el("li", { class: "item" }, el("div", {}, el("p", { class: "name", text: each.name }),
        el("p", { class: "facts", text: `${plural(each.connections, "connection")} · from ${each.address} · since ${moment(each.since)}` })))))),
      el("div", {}, el("h3", { text: "Database and store" }), el("dl", { class: "facts-list section-small" },
        fact("PostgreSQL", `${database.version}, ${database.name}, schema ${database.schema}`), fact("Size", bytes(database.bytes)),
        fact("Content store", content_store.trouble ? `${content_store.kind}: ${content_store.trouble}` : content_store.kind),
        fact("Quota of a workspace", `${quota.max_bytes ? bytes(quota.max_bytes) : "no limit"}, ${quota.max_files ? plural(quota.max_files, "file") : "no limit of files"}`),
        fact("Last sweep", sweep.error ?? (sweep.finished_at ? `${moment(sweep.finished_at)}: ${count(sweep.acked)} confirmed, ${count(sweep.expired)} expired` : "none yet")))));
  }
}
