// A button that copies a text and says so.
import { button, say, set_text } from "../lib/dom.js";

export function copy_button(text, label = "Copy the link") {
  const made = button(label, async () => {
    try {
      await navigator.clipboard.writeText(text);
      set_text(made, "Copied");
      say("Copied");
    } catch {
      set_text(made, "Select the text and copy it");  // no clipboard without https
    }
    setTimeout(() => set_text(made, label), 2500);
  }, { class: "main" });
  return made;
}
