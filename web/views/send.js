// Send: drop files, watch them go, and learn what became of them.
import { ApiError, backoff, call, pause } from "../lib/api.js";
import { divide } from "../lib/batches.js";
import { button, el, note, replace } from "../lib/dom.js";
import { listen } from "../lib/events.js";
import { bytes, in_time, moment, plural } from "../lib/format.js";
import { linked_grant, token_for } from "../lib/session.js";
import { upload } from "../lib/upload.js";
import { words_for } from "../lib/words.js";
import { leave_button } from "../parts/token-gate.js";
import "../parts/upload-row.js";

const at_once = 3;
const states = { UPLOAD_FETCHED: ["fetched", "fetched_at"], UPLOAD_ACKED: ["acked", "acked_at"], UPLOAD_EXPIRED: ["expired", "expired_at"] };

export async function show(main, signal) {
  const linked = linked_grant();
  const token = linked || token_for("send");
  if (token) await open(main, signal, token, Boolean(linked));
  else ask(main, signal);
}

function ask(main, signal, problem) {
  const gate = el("token-gate");
  replace(main, el("h1", { text: "Send files" }),
    el("p", { class: "lead", text: "Open the link that you were given. Or enter a token that may send files." }), el("div", { class: "section" }, gate));
  gate.ask({ view: "send", label: "Token", hint: "Of a workspace, or the last part of a link. It is sent to this server only, in a header.", problem,
    check: async (token) => { await open(main, signal, token, false, true); } });
}

// Waits for the server if it does not answer; what the token is good for decides the rest.
async function open(main, signal, token, linked, from_gate) {
  if (!from_gate) replace(main, el("h1", { text: "Send files" }), el("p", { class: "lead", role: "status", text: "Looking at the link…" }));
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      const [who, limits] = await Promise.all([call("GET", "/token", { token, signal }), call("GET", "/uploads/limits", { signal })]);
      if (!who.workspace_id) throw new ApiError(403, { code: "insufficient_scope" });
      if (who.scope === "read") throw new ApiError(403, { code: "insufficient_scope" });
      if (!signal.aborted) new SendView(main, signal, token, who, limits, linked);
      return;
    } catch (error) {
      if (error.name === "AbortError") return;
      if (from_gate) throw error;
      if (!error.passing) {
        if (!linked) return ask(main, signal, error);
        return replace(main, el("h1", { text: "Send files" }), el("div", { class: "section" }, note("bad", words_for(error))));
      }
      replace(main, el("h1", { text: "Send files" }), el("div", { class: "section" }, note("warn", words_for(error))));
      await pause(backoff(failures), signal);
    }
  }
}

class SendView {
  #rows = new Map();  // by file id: those whose end is not known yet
  #queue = [];
  #running = 0;
  #terms = el("dl", { class: "facts-list" });
  #list = el("div", { class: "files", role: "list", "aria-label": "Files" });
  #notice = el("div");

  constructor(main, signal, token, who, limits, linked) {
    Object.assign(this, { signal, token, who, limits });
    const input = el("input", { type: "file", multiple: true, hidden: true, on: { change: () => { this.#add([...input.files]); input.value = ""; } } });
    const choose = button("Choose files", () => input.click(), { class: "main" });
    const drop = el("div", { class: "drop" }, el("h2", { text: "Drop files here" }), el("p", { class: "soft", text: "or" }), choose, input);
    this.drop = drop;
    this.#take_drops(drop);
    replace(main,
      el("h1", {}, "Send files to ", el("bdi", { text: who.workspace_name, dir: "auto" })),
      el("p", { class: "lead", text: "They are held here until the receiver calls for them. You can watch them arrive." }),
      el("div", { class: "letter section" }, el("div", {}, drop, this.#notice, this.#list), el("aside", { "aria-label": "About this link" }, this.#terms,
        !linked && leave_button("send"))));
    this.#show_terms();
    listen(token, { open: () => this.#ask_for_receipts(), event: (frame) => this.#hear(frame), ended: () => this.#end() }, signal);
    const leaving = (event) => { if (this.#running) event.preventDefault(); };
    addEventListener("beforeunload", leaving);
    main.addEventListener("leaving", leaving, { signal });
    const clock = setInterval(() => this.#show_terms(), 5000);
    signal.addEventListener("abort", () => { removeEventListener("beforeunload", leaving); clearInterval(clock); });
  }

  #take_drops(drop) {
    const { signal } = this;
    const stop = (event) => event.preventDefault();
    document.addEventListener("dragover", (event) => { stop(event); drop.classList.add("over"); }, { signal });
    document.addEventListener("dragleave", () => drop.classList.remove("over"), { signal });
    document.addEventListener("drop", (event) => {
      stop(event);
      drop.classList.remove("over");
      this.#add([...event.dataTransfer.files]);
    }, { signal });
  }

  #show_terms() {
    const { grant, expires_at } = this.who;
    const ended = expires_at && Date.parse(expires_at) <= Date.now();
    const fact = (name, value) => [el("dt", { text: name }), el("dd", { text: value })];
    replace(this.#terms,
      grant?.note && el("div", {}, fact("For", grant.note)),
      expires_at && el("div", {}, fact("Valid", ended ? `ended ${moment(expires_at)}` : `until ${moment(expires_at)}, ends ${in_time(expires_at)}`)),
      grant && el("div", {}, fact("Still welcome", `${plural(grant.left.files, "file")}, ${bytes(grant.left.bytes)} in ${plural(grant.left.requests, "go", "goes")}`)),
      grant?.types && el("div", {}, fact("Types", grant.types.join(", "))),
      el("div", {}, fact("Largest file", bytes(this.limits.per_file_bytes))));
    const used_up = grant && (grant.left.requests <= 0 || grant.left.files <= 0 || grant.left.bytes <= 0);
    this.drop.hidden = Boolean(ended || used_up);
    replace(this.#notice, ended ? note("warn", words_for({ code: "invalid_token" })) : used_up && note("warn", words_for({ code: "grant_exhausted" })));
  }

  #add(files) {
    const { batches, refused } = divide(files, this.who.grant, this.limits);
    for (const [file, error] of refused) this.#row(file, () => {}).fail(error);
    for (const batch of batches) {
      const ending = new AbortController();
      const rows = batch.map((file) => this.#row(file, () => ending.abort()));
      this.#queue.push({ batch, rows, ending });
    }
    this.#reserve(batches);
    this.#next();
  }

  // What is on its way is taken off what is left, so that the next choice is divided rightly.
  #reserve(batches) {
    const left = this.who.grant?.left;
    if (!left) return;
    left.requests -= batches.length;
    left.files -= batches.flat().length;
    left.bytes -= batches.flat().reduce((sum, file) => sum + file.size, 0);
    this.#show_terms();
  }

  #row(file, on_cancel) {
    const row = el("upload-row");
    this.#list.prepend(row);
    row.start(file, on_cancel);
    return row;
  }

  #next() {
    while (this.#running < at_once && this.#queue.length) {
      this.#running += 1;
      this.#send(this.#queue.shift()).finally(() => { this.#running -= 1; this.#next(); });
    }
  }

  async #send({ batch, rows, ending }) {
    const size = batch.reduce((sum, file) => sum + file.size, 0);
    let all_sent = false;  // by any of its tries
    const signal = AbortSignal.any ? AbortSignal.any([ending.signal, this.signal]) : ending.signal;
    try {
      if (signal.aborted) throw new DOMException("cancelled", "AbortError");
      const answer = await upload(this.who.workspace_id, this.token, batch, {
        // One request, several files: what is sent belongs to them in order.
        sent: (sum) => {
          all_sent ||= sum >= size;
          rows.forEach((row, i) => {
            const before = batch.slice(0, i).reduce((all, file) => all + file.size, 0);
            row.progress(Math.max(0, Math.min(batch[i].size, sum - before)));
          });
        },
        waiting: (error, seconds) => rows.forEach((row) => row.wait(error, seconds)),
      }, signal);
      const files = Array.isArray(answer.files) ? answer.files : [];
      rows.forEach((row, i) => this.#sent(row, files[i] ?? {}));
    } catch (error) {
      if (error.name === "AbortError") rows.forEach((row) => row.cancelled(all_sent));
      else if (error instanceof ApiError) rows.forEach((row) => row.fail(error));
      else rows.forEach((row, i) => row.fail({ code: error.files && !error.files.includes(batch[i]) ? "other_unreadable" : "unreadable" }));
      this.#look_again();
    }
  }

  // Without an id nothing is held here: the receiver is called, and has answered itself.
  #sent(row, { file_id, sha256 }) {
    if (!file_id) return row.delivered();
    this.#rows.set(file_id, row);
    row.receipt({ state: "staged", staged_at: new Date().toISOString(), sha256 });
    this.#ask_for_receipt(file_id);
  }

  // After a failure: is the link still good, and what is left of it?
  async #look_again() {
    try {
      this.who = await call("GET", "/token", { token: this.token, signal: this.signal });
    } catch (error) {
      if (error.status === 401) return this.#end();
    }
    if (!this.signal.aborted) this.#show_terms();
  }

  #end() {
    const { expires_at } = this.who;
    this.who = { ...this.who, expires_at: expires_at && Date.parse(expires_at) < Date.now() ? expires_at : new Date().toISOString() };
    this.#show_terms();
  }

  #hear({ event, payload }) {
    const known = states[event];
    const row = known && this.#rows.get(payload?.file_id);
    if (!row) return;
    this.#settle(payload.file_id, row, { state: known[0], [known[1]]: payload.at });
    if (known[0] === "acked" && !row.known.fetched_at) this.#ask_for_receipt(payload.file_id, row);  // when was that?
  }

  #settle(id, row, known) {
    const order = ["staged", "fetched", "acked", "expired"];
    if (order.indexOf(known.state) < order.indexOf(row.known?.state ?? "staged")) delete known.state;
    row.receipt(known);
    if (known.state === "acked" || known.state === "expired") this.#rows.delete(id);
  }

  // Events that were missed are in the receipts.
  #ask_for_receipts() {
    for (const id of this.#rows.keys()) this.#ask_for_receipt(id);
  }
  async #ask_for_receipt(id, row = this.#rows.get(id)) {
    try {
      const receipt = await call("GET", `/workspaces/${this.who.workspace_id}/uploads/${id}`, { token: this.token, signal: this.signal });
      if (row) this.#settle(id, row, receipt);
    } catch { /* the next connection asks again */ }
  }
}
