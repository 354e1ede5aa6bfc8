// "Mint a link to send me files": what it allows, then the link itself, once.
import { call } from "../lib/api.js";
import { button, el, note, replace } from "../lib/dom.js";
import { words_for } from "../lib/words.js";
import { open_dialog } from "./confirm-dialog.js";
import { copy_button } from "./copy-button.js";
import "./qr-code.js";

const lives = [[900, "15 minutes"], [3600, "An hour"], [86400, "A day"], [604800, "A week"]];
const sizes = [[52428800, "50 MB"], [262144000, "250 MB"], [1073741824, "1 GB"]];

function select(name, choices, chosen) {
  return el("select", { name }, choices.map(([value, text]) => el("option", { value, text, selected: value === chosen })));
}
function labelled(text, field) {
  return el("label", {}, el("span", { class: "name", text }), field);
}

export function grant_dialog(workspace, token) {
  const life = select("life", lives, 3600);
  const size = select("size", sizes, 52428800);
  const files = el("input", { name: "files", type: "number", min: "1", max: "1000", value: "20", required: true });
  const text = el("input", { name: "note", maxlength: "100", autocomplete: "off", placeholder: "What it is for" });
  const trouble = el("div");
  const make = el("button", { type: "submit", class: "main", text: "Make the link" });
  const body = el("div");
  const form = el("form", { on: { submit: async (event) => {
    event.preventDefault();
    make.disabled = true;
    try {
      const wanted = { expires_in: Number(life.value), max_bytes: Number(size.value), max_files: Number(files.value), max_requests: Number(files.value) };
      if (text.value.trim()) wanted.note = text.value.trim();
      const made = await call("POST", `/workspaces/${workspace}/upload-grants`, { token, json: wanted });
      show_link(body, made.page_url);
    } catch (error) {
      make.disabled = false;
      replace(trouble, note("bad", words_for(error)));
    }
  } } }, el("p", { class: "soft", text: "Whoever has the link can send you files, and see nothing else." }),
    el("div", { class: "fields" }, labelled("Valid for", life), labelled("Files", files), labelled("In all", size)), labelled("Note", text), trouble, make);
  body.append(form);
  return open_dialog("A link to send me files", body).closed;
}

function show_link(body, url) {
  const code = el("qr-code");
  code.text = url;
  replace(body, el("div", { class: "stack" }, el("p", { class: "soft", text: "It is shown this once." }), code,
    el("code", { class: "link", text: url }), el("div", { class: "row" }, copy_button(url))));
  body.querySelector("button").focus();
}
