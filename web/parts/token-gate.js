// <token-gate>: asks for a token and calls `check(token)`, which resolves when it is the right one and rejects with an
// ApiError when it is not.
import { button, el, note, replace, say } from "../lib/dom.js";
import { forget, hold } from "../lib/session.js";
import { words_for } from "../lib/words.js";

class TokenGate extends HTMLElement {
  ask({ view, label, hint, check, problem }) {
    const field = el("input", { type: "password", name: "token", id: "token", autocomplete: "off", spellcheck: "false", required: true, "aria-describedby": "token-hint" });
    const keep = el("input", { type: "checkbox", name: "keep" });
    const trouble = el("div");
    const submit = el("button", { class: "main", type: "submit", text: "Open" });
    if (problem) replace(trouble, note("bad", words_for(problem)));
    const form = el("form", { class: "sheet", on: { submit: async (event) => {
      event.preventDefault();
      const token = field.value.trim();
      if (!token) return;
      submit.disabled = true;
      try {
        hold(view, token, keep.checked);
        await check(token);
      } catch (error) {
        if (error.name === "AbortError") return;
        forget(view);
        const words = words_for(error);
        replace(trouble, note("bad", words));
        say(words.title);
        field.select();
      } finally {
        submit.disabled = false;
      }
    } } },
      el("label", {}, el("span", { class: "name", text: label }), field),
      el("p", { id: "token-hint", class: "small soft", text: hint }),
      el("label", { class: "check" }, keep, el("span", { text: "Keep it until this tab is closed" })),
      trouble, el("div", { class: "row" }, submit));
    replace(this, form);
    field.focus({ preventScroll: true });
  }
}
customElements.define("token-gate", TokenGate);

// A way out, for the head of a view.
export function leave_button(view) {
  return button("Forget the token", () => { forget(view); location.reload(); }, { class: "quiet" });
}
