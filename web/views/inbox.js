// Inbox: what waits for a workspace, and what was said to it; live.
import { ApiError, answer, backoff, call, pause } from "../lib/api.js";
import { button, el, note, once_a_frame, replace, say, set_text } from "../lib/dom.js";
import { listen } from "../lib/events.js";
import { ago, bytes, clock, in_time, plural } from "../lib/format.js";
import { forget, token_for } from "../lib/session.js";
import { words_for } from "../lib/words.js";
import { confirm_dialog } from "../parts/confirm-dialog.js";
import { grant_dialog } from "../parts/grant-dialog.js";
import { fill_grants } from "../parts/grant-list.js";
import { leave_button } from "../parts/token-gate.js";
import "../parts/virtual-list.js";

const page_size = 500;
const most_messages = 50;
const most_rows = 300;  // of the feed, newest first: messages, and the names that senders gave their files

export async function show(main, signal) {
  const token = token_for("inbox");
  if (!token) return ask(main, signal);
  replace(main, el("h1", { text: "Inbox" }), el("p", { class: "lead", role: "status", text: "Opening…" }));
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      return await open(main, signal, token);
    } catch (error) {
      if (error.name === "AbortError") return;
      if (error.refused) forget("inbox");
      if (!error.passing) return ask(main, signal, error);
      replace(main, el("h1", { text: "Inbox" }), el("div", { class: "section" }, note("warn", words_for(error))));
      await pause(backoff(failures), signal);
    }
  }
}

function ask(main, signal, problem) {
  const gate = el("token-gate");
  replace(main, el("h1", { text: "Inbox" }), el("p", { class: "lead", text: "Enter the token of a workspace to see what waits for it." }), el("div", { class: "section" }, gate));
  gate.ask({ view: "inbox", label: "Workspace token", hint: "A token that may only read is enough to look and to download.", problem,
    check: (token) => open(main, signal, token) });
}

async function open(main, signal, token) {
  const who = await call("GET", "/token", { token, signal });
  if (!who.workspace_id || !["full", "read"].includes(who.scope)) throw new ApiError(403, { code: "insufficient_scope" });
  if (!signal.aborted) new InboxView(main, signal, token, who);
}

function text_of(row) {
  const parts = row.request_body?.params?.message?.parts ?? [];
  const words = parts.map((part) => part.text).filter((text) => typeof text === "string").join("\n");
  return words || row.summary || row.method || row.activity_type;
}

class InboxView {
  #files = new Map();
  #messages = [];
  #loading = true;
  #turn = 0;  // of loads: the last one counts
  #heard = null;  // what was heard during a load, which may have read before that happened
  #draw = once_a_frame(() => this.#show());
  #state = el("span", { class: "pill warn", role: "status", text: "Connecting" });
  #summary = el("p", { class: "lead", text: "Loading…" });
  #empty = el("div", { class: "empty", hidden: true }, el("strong", { text: "Nothing is waiting" }), "What is sent from now on appears here by itself.");
  #list = el("virtual-list", { "aria-label": "Waiting files" });
  #said = el("ul", { class: "plain" });
  #silent = el("p", { class: "soft small", text: "No messages yet." });
  #trouble = el("div");
  #grants = el("div");

  constructor(main, signal, token, who) {
    Object.assign(this, { signal, token, who, base: `/workspaces/${who.workspace_id}` });
    const full = who.scope === "full";
    this.#list.key = (file) => file.file_id;
    this.#list.render = (file) => this.#file_row(file, full);
    replace(main,
      el("div", { class: "row apart" }, el("h1", {}, el("bdi", { text: who.workspace_name, dir: "auto" })), el("div", { class: "row" }, this.#state, leave_button("inbox"))),
      this.#summary, this.#trouble,
      el("div", { class: "columns" },
        el("section", { "aria-labelledby": "waiting" }, el("h2", { id: "waiting", text: "Waiting files" }), this.#empty, this.#list),
        el("div", {},
          full && el("section", { "aria-labelledby": "links" }, el("div", { class: "row apart" }, el("h2", { id: "links", text: "Links to send me files" }),
            button("Make a link", async () => { await grant_dialog(who.workspace_id, token); this.#load_grants(); }, { class: "main" })), this.#grants),
          el("section", { class: full && "section", "aria-labelledby": "messages" }, el("h2", { id: "messages", text: "Newest messages" }), this.#silent, this.#said))));
    if (full) this.#load_grants();
    listen(token, { open: () => this.#load(), event: (frame) => this.#hear(frame), lost: () => this.#lost(), ended: (error) => this.#end(error) }, signal);
    const clock_tick = setInterval(() => this.#list.redraw(), 20000);
    signal.addEventListener("abort", () => clearInterval(clock_tick));
  }

  async #load_grants() {
    try {
      await fill_grants(this.#grants, this.who.workspace_id, this.token, this.signal, () => this.#load_grants());
    } catch (error) {
      if (error.name === "AbortError") return;
      replace(this.#grants, note("warn", words_for(error)));
      if (error.passing) await pause(3, this.signal);
      if (error.passing && !this.signal.aborted) this.#load_grants();
    }
  }

  #lost() {
    this.#state.className = "pill warn";
    set_text(this.#state, navigator.onLine ? "Connecting again" : "Offline");
  }

  #end(error) {
    forget("inbox");
    this.#state.className = "pill bad";
    set_text(this.#state, "Ended");
    replace(this.#trouble, note("bad", words_for(error)));
  }

  // All of it, after each connection: what happened in between has no event.
  async #load() {
    const turn = (this.#turn += 1);
    this.#heard = [];
    try {
      const files = new Map();
      let after = "";
      for (;;) {
        const page = await call("GET", `${this.base}/pending-uploads?limit=${page_size}${after}`, { token: this.token, signal: this.signal });
        for (const file of page) files.set(file.file_id, file);
        if (page.length < page_size) break;
        after = `&after=${page.at(-1).file_id}`;
      }
      const rows = await call("GET", `${this.base}/activity?limit=${most_rows}`, { token: this.token, signal: this.signal });
      if (turn !== this.#turn) return;
      this.#files = files;
      for (const { request_body: told, method } of rows)
        if (method === "chat_upload_receive" && files.has(told?.file_id)) files.get(told.file_id).original_name = told.original_name;
      this.#messages = rows.filter((row) => row.method !== "chat_upload_receive").slice(0, most_messages);
      const heard = this.#heard;
      this.#heard = null;
      for (const frame of heard) this.#hear(frame);
      this.#loading = false;
      replace(this.#trouble);
      this.#state.className = "pill good";
      set_text(this.#state, "Live");
      this.#draw();
      this.#list.redraw();
    } catch (error) {
      if (error.name === "AbortError" || turn !== this.#turn) return;
      replace(this.#trouble, note("warn", words_for(error)));
      if (error.passing) await pause(3, this.signal);
      if (error.passing && turn === this.#turn && !this.signal.aborted) this.#load();
    }
  }

  #hear(frame) {
    const { event, timestamp, payload } = frame;
    this.#heard?.push(frame);
    if (event === "ACTIVITY_LOGGED" && payload?.method === "chat_upload_receive") {
      const file = payload.request_body;
      if (file?.file_id && !this.#files.has(file.file_id)) this.#files.set(file.file_id, { ...file, created_at: timestamp });
    } else if (event === "ACTIVITY_LOGGED") {
      if (this.#messages.some((row) => row.id === payload.id)) return;
      this.#messages.unshift({ ...payload, created_at: timestamp });
      this.#messages.length = Math.min(this.#messages.length, most_messages);
    } else if (event === "UPLOAD_FETCHED") {
      const file = this.#files.get(payload.file_id);
      if (file) { file.fetched_at = payload.at; this.#list.refresh(file); }
    } else if (event === "UPLOAD_ACKED" || event === "UPLOAD_EXPIRED") {
      this.#files.delete(payload.file_id);
    } else return;
    this.#draw();
  }

  #show() {
    const files = [...this.#files.values()];
    const sum = files.reduce((all, file) => all + file.size, 0);
    set_text(this.#summary, this.#loading ? "Loading…" : files.length ? `${plural(files.length, "file")} waiting, ${bytes(sum)}.` : "Nothing is waiting.");
    this.#empty.hidden = this.#loading || files.length > 0;
    this.#list.items = files;
    this.#silent.hidden = this.#messages.length > 0;
    replace(this.#said, this.#messages.map((row) => (row.node ??= el("li", { class: "message" },
      el("p", { class: "small soft" }, el("time", { datetime: row.created_at, text: clock(row.created_at) }), row.source_id ? " · from an agent" : ""),
      el("p", { text: text_of(row).slice(0, 2000), dir: "auto" })))));
  }

  #file_row(file, full) {
    const facts = [bytes(file.size), file.fetched_at ? `fetched ${clock(file.fetched_at)}` : `came ${ago(file.created_at)}`,
      file.expires_at && `ends ${in_time(file.expires_at)}`, file.mimeType].filter(Boolean).join(" · ");
    const name = file.original_name ?? file.name;
    return el("div", { class: "item" }, el("div", {}, el("p", { class: "name", title: name }, el("bdi", { text: name, dir: "auto" })),
      el("p", { class: "facts", title: facts, text: file.told || facts })),
      el("div", { class: "acts" }, button("Download", () => this.#download(file), { "aria-label": `Download ${name}`, "aria-disabled": file.busy && "true" }),
        full && button("Confirm", () => this.#ack(file), { "aria-label": `Confirm ${name}` })));
  }

  #tell(file, busy, told) {
    Object.assign(file, { busy, told });
    this.#list.refresh(file);
    if (told) say(`${file.original_name ?? file.name}: ${told}`);
  }

  async #download(file) {
    if (file.busy) return;
    this.#tell(file, true, "Downloading…");
    try {
      const response = await answer("GET", `${this.base}/pending-uploads/${file.file_id}/content`, { token: this.token, signal: this.signal });
      const address = URL.createObjectURL(await response.blob());
      el("a", { href: address, download: file.name }).click();
      setTimeout(() => URL.revokeObjectURL(address), 60000);
      this.#tell(file, false, "");
    } catch (error) {
      if (error.name === "AbortError") return;
      const failure = error instanceof ApiError ? error : new ApiError(0);  // it broke off
      const { title, advice } = words_for(failure);
      const may_pass = failure.passing || (failure.status >= 500 && failure.code !== "content_lost");
      this.#tell(file, false, `${title} ${may_pass ? "Try again." : advice}`);
    }
  }

  async #ack(file) {
    const done = await confirm_dialog({ title: "Confirm this file?", action: "Confirm",
      text: `It tells the sender that you have ${file.original_name ?? file.name}, and takes it off this list for good.`,
      act: () => call("POST", `${this.base}/pending-uploads/${file.file_id}/ack`, { token: this.token, json: file.sha256 ? { sha256: file.sha256 } : {} }) });
    if (!done) return;
    this.#files.delete(file.file_id);
    say(`${file.name} confirmed`);
    this.#draw();
  }
}
