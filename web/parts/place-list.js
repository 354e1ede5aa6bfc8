// The workspaces with what waits for them, page by page.
import { call } from "../lib/api.js";
import { button, el, note, replace } from "../lib/dom.js";
import { ago, bytes, duration, plural } from "../lib/format.js";
import { words_for } from "../lib/words.js";
import { quota_dialog, remove_dialog, tokens_dialog } from "./workspace-dialogs.js";

const orders = [["oldest", "Longest waiting"], ["bytes", "Most bytes"], ["name", "Name"]];
const kinds = { online: "good", degraded: "warn", offline: "bad", awaiting_agent: "" };

class PlaceList extends HTMLElement {
  #rows = el("div", { role: "list" });
  #more = button("Show more", () => this.#load(true));
  #order = el("select", { "aria-label": "Order" }, orders.map(([value, text]) => el("option", { value, text })));
  #trouble = el("div");
  #next = null;
  #loaded = 0;
  #turn = 0;

  start(token, signal) {
    Object.assign(this, { token, signal });
    this.#order.addEventListener("change", () => this.#load(false));
    replace(this, el("div", { class: "row apart" }, el("h2", { text: "Workspaces" }), this.#order), this.#trouble, this.#rows, el("div", { class: "row section" }, this.#more));
    this.#more.hidden = true;
    this.#load(false);
  }

  // Again, unless somebody has gone further down.
  refresh() {
    if (this.#loaded <= 50 && !document.querySelector("dialog")) this.#load(false);
  }

  async #load(further) {
    const turn = (this.#turn += 1);
    try {
      const after = further && this.#next ? `&after=${encodeURIComponent(this.#next)}` : "";
      const page = await call("GET", `/admin/workspaces?limit=50&order=${this.#order.value}${after}`, { token: this.token, signal: this.signal });
      if (turn !== this.#turn) return;
      const rows = page.workspaces.map((each) => this.#row(each));
      const focused = this.#rows.contains(document.activeElement) && document.activeElement.dataset.key;
      if (further) this.#rows.append(...rows);
      else if (rows.length) replace(this.#rows, ...rows);
      else replace(this.#rows, el("div", { class: "empty", role: "listitem" }, el("strong", { text: "No workspace yet" }), "They appear here when they register."));
      if (focused) [...this.#rows.querySelectorAll("button")].find((each) => each.dataset.key === focused)?.focus({ preventScroll: true });
      this.#loaded = further ? this.#loaded + rows.length : rows.length;
      this.#next = page.next;
      this.#more.hidden = !page.next;
      replace(this.#trouble);
    } catch (error) {
      if (error.name !== "AbortError") replace(this.#trouble, note("warn", words_for(error)));
    }
  }

  #row(each) {
    const share = Math.max(each.max_bytes ? each.bytes / each.max_bytes : 0, each.max_files ? each.files / each.max_files : 0);
    const level = el("span");
    level.style.width = `${Math.min(100, share * 100)}%`;
    const act = (text, dialog) => button(text, async () => { if (await dialog(each, this.token) !== false) this.#load(false); }, { class: "quiet", "aria-label": `${text} of ${each.name}`, "data-key": `${text} ${each.id}` });
    return el("div", { class: "place", role: "listitem" },
      el("div", {}, el("p", { class: "name" }, el("bdi", { text: each.name, dir: "auto" })),
        el("span", { class: `pill ${kinds[each.status] ?? ""}`, text: each.status.replace("_", " ") }), " ",
        el("span", { class: "small soft", text: each.delivery_mode || "no mode" })),
      el("div", {}, el("span", { class: "k", text: "Waiting" }), each.files ? `${each.estimated ? "up to " : ""}${plural(each.files, "file")}` : "nothing",
        each.oldest_at && el("span", { class: "k", text: `oldest ${duration((Date.now() - Date.parse(each.oldest_at)) / 1000)}` })),
      el("div", {}, el("span", { class: "k", text: "Quota" }), each.max_bytes ? `${bytes(each.bytes)} of ${bytes(each.max_bytes)}` : bytes(each.bytes),
        el("div", { class: share > 0.9 ? "bar bad" : "bar", role: "meter", "aria-valuemin": "0", "aria-valuemax": "100", "aria-valuenow": Math.min(100, Math.round(share * 100)), "aria-label": `Quota used by ${each.name}` }, level)),
      el("div", {}, el("span", { class: "k", text: "Last seen" }), each.last_seen_at ? ago(each.last_seen_at) : "never"),
      el("div", { class: "row" }, act("Quota", quota_dialog), act("Tokens", tokens_dialog), act("Remove", remove_dialog)));
  }
}
customElements.define("place-list", PlaceList);
