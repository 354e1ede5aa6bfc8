// <upload-row>: one file on its way. It is told what happens and shows it; it decides nothing.
import { button, el, note, replace, say, set_text } from "../lib/dom.js";
import { bytes, clock, duration, rate } from "../lib/format.js";
import { words_for } from "../lib/words.js";

const stages = [["staged", "Held for the receiver"], ["fetched", "Fetched"], ["acked", "Confirmed"]];

class UploadRow extends HTMLElement {
  #bar = el("span");
  #track = el("div", { class: "bar", role: "progressbar", "aria-valuemin": "0", "aria-valuemax": "100", "aria-valuenow": "0" }, this.#bar);
  #status = el("p", { class: "small soft" });
  #more = el("div");
  #cancel = button("Cancel", () => this.on_cancel());
  #samples = [];
  #stage = "";

  start(file, on_cancel) {
    this.file = file;
    this.on_cancel = on_cancel;
    this.className = "upload";
    this.setAttribute("role", "listitem");
    this.style.display = "block";
    this.#track.setAttribute("aria-label", `Progress of ${file.name}`);
    this.#cancel.setAttribute("aria-label", `Cancel ${file.name}`);
    replace(this, el("div", { class: "head" }, el("div", {}, el("bdi", { class: "name", text: file.name, dir: "auto" }),
      el("p", { class: "small soft", text: bytes(file.size) })), this.#cancel), this.#track, this.#status, this.#more);
    set_text(this.#status, "Waiting for its turn");
  }

  // Of this file alone.
  progress(sent) {
    const now = performance.now();
    if (sent === 0) this.#samples = [];
    this.#samples.push([now, sent]);
    while (this.#samples.length > 2 && now - this.#samples[0][0] > 5000) this.#samples.shift();
    const [since, before] = this.#samples[0];
    const speed = now > since ? ((sent - before) * 1000) / (now - since) : 0;
    const share = this.file.size ? Math.min(1, sent / this.file.size) : 1;
    this.#bar.style.width = `${share * 100}%`;
    this.#track.setAttribute("aria-valuenow", Math.round(share * 100));
    this.dataset.state = "sending";
    if (sent >= this.file.size) set_text(this.#status, "Sent; the server is storing it");
    else if (speed > 0) set_text(this.#status, `${bytes(sent)} of ${bytes(this.file.size)} · ${rate(speed)} · ${duration((this.file.size - sent) / speed)} left`);
    else set_text(this.#status, sent ? "Nothing moves at the moment" : "Starting");
  }

  wait(error, seconds) {
    this.dataset.state = "waiting";
    const { title } = words_for(error);
    set_text(this.#status, `${title} Trying again in ${duration(seconds)}.`);
    say(title);
  }

  fail(error) {
    this.dataset.state = "failed";
    this.#track.classList.add("bad");
    this.#cancel.remove();
    const words = words_for(error);
    set_text(this.#status, "Not sent");
    replace(this.#more, note("bad", words));
    say(`${this.file.name}: ${words.title}`);
  }

  // Once all of it was sent, nobody here knows how far the server came.
  cancelled(all_sent) {
    this.dataset.state = "cancelled";
    this.#cancel.remove();
    this.#track.remove();
    set_text(this.#status, all_sent ? "Cancelled after it was sent; it may have been stored" : "Cancelled; nothing was stored");
  }

  // To a receiver that is called: there are no steps to follow.
  delivered() {
    this.dataset.state = "delivered";
    this.#cancel.remove();
    this.#track.remove();
    set_text(this.#status, "Delivered to the receiver");
    say(`${this.file.name}: delivered`);
  }

  // The receipt, or as much as is known of it.
  receipt(known) {
    this.known = { ...this.known, ...known };
    const { state = "staged" } = this.known;
    if (state !== this.#stage) {
      this.#stage = this.dataset.state = state;
      const words = { staged: "held for the receiver", fetched: "fetched", acked: "confirmed by the receiver", expired: "expired before it was fetched" };
      say(`${this.file.name}: ${words[state]}`);
    }
    this.#cancel.remove();
    this.#track.remove();
    set_text(this.#status, "");
    const steps = stages.map(([name, title]) => {
      const at = this.known[`${name}_at`];
      const done = Boolean(at) || name === state || (name === "fetched" && state === "acked") || name === "staged";
      return el("li", { class: done && "done" }, title, at && el("time", { datetime: at, text: ` ${clock(at)}` }), !done && el("span", { class: "unseen", text: " (not yet)" }));
    });
    replace(this.#more, el("ul", { class: "steps" }, steps),
      state === "expired" && note("warn", { title: "Nobody came for it in time.", advice: "Ask the receiver, and send it again." }),
      this.known.sha256 && el("p", { class: "digest mono", text: `SHA-256 ${this.known.sha256}` }));
  }
}
customElements.define("upload-row", UploadRow);
