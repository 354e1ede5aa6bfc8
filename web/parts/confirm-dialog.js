// Dialogs. The browser's own element brings focus, Escape and the backdrop.
import { button, el, note, replace } from "../lib/dom.js";
import { words_for } from "../lib/words.js";

// Opens a dialog with a title and content; resolves when it is closed.
export function open_dialog(title, content, buttons = []) {
  const heading = el("h2", { id: "dialog-title", text: title });
  const close = button("Close", () => dialog.close());
  const dialog = el("dialog", { "aria-labelledby": "dialog-title" }, heading, content, el("div", { class: "row" }, ...buttons, close));
  document.body.append(dialog);
  const closed = new Promise((resolve) => dialog.addEventListener("close", () => { dialog.remove(); resolve(); }));
  dialog.showModal();
  return { dialog, closed };
}

// Asks before something that cannot be undone, and does it: `act()` rejects with an ApiError. When `typed` is given, it
// must be typed first. Resolves with whether it was done.
export function confirm_dialog({ title, text, action, typed, act }) {
  return new Promise((resolve) => {
    let done = false;
    const trouble = el("div");
    const field = typed && el("input", { autocomplete: "off", spellcheck: "false" });
    const go = button(action, async () => {
      go.disabled = true;
      try {
        await act();
        done = true;
        dialog.close();
      } catch (error) {
        replace(trouble, note("bad", words_for(error)));
        go.disabled = Boolean(typed) && field.value !== typed;
      }
    }, { class: "danger" });
    if (typed) {
      go.disabled = true;
      field.addEventListener("input", () => { go.disabled = field.value !== typed; });
    }
    const content = el("div", { class: "stack" }, el("p", { text }),
      typed && el("label", {}, el("span", { class: "name", text: `Type ${typed} to confirm` }), field), trouble);
    const { dialog, closed } = open_dialog(title, content, [go]);
    closed.then(() => resolve(done));
  });
}
