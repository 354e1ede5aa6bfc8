// What an operator does to one workspace: quota, tokens, removal.
import { call } from "../lib/api.js";
import { button, el, note, replace } from "../lib/dom.js";
import { ago, moment } from "../lib/format.js";
import { words_for } from "../lib/words.js";
import { confirm_dialog, open_dialog } from "./confirm-dialog.js";

const MB = 1000000;

// Shows the limits that are the workspace's own, and changes only those that were changed here.
export async function quota_dialog(workspace, token) {
  const title = `Quota of ${workspace.name}`;
  const path = `/workspaces/${workspace.id}/quota`;
  let own;
  try {
    ({ own } = await call("GET", path, { token }));
  } catch (error) {
    await open_dialog(title, note("bad", words_for(error))).closed;
    return false;
  }
  // `unit` is what one in the field stands for. A limit of a few bytes stays one: 0 would be none.
  const limit = (member, unit, step) => {
    const before = own[member] === null ? "" : String(own[member] / unit);
    const input = el("input", { name: member, type: "number", min: "0", step, value: before, placeholder: "as everywhere" });
    const value = () => { const n = Number(input.value) * unit; return input.value === "" ? null : n > 0 ? Math.max(1, Math.round(n)) : 0; };
    return { input, change: () => (input.value === before ? {} : { [member]: value() }) };
  };
  const size = limit("max_bytes", MB, "any");
  const files = limit("max_files", 1, "1");
  const trouble = el("div");
  let changed = false;
  const save = el("button", { type: "submit", class: "main", text: "Save" });
  const form = el("form", { on: { submit: async (event) => {
    event.preventDefault();
    save.disabled = true;
    try {
      const json = { ...size.change(), ...files.change() };
      changed = Object.keys(json).length > 0;
      if (changed) await call("PUT", path, { token, json });
      dialog.close();
    } catch (error) {
      changed = false;
      save.disabled = false;
      replace(trouble, note("bad", words_for(error)));
    }
  } } }, el("p", { class: "soft", text: "How much may wait for it. Empty is the server's default, 0 is no limit." }),
    el("div", { class: "fields" }, el("label", {}, el("span", { class: "name", text: "Megabytes" }), size.input), el("label", {}, el("span", { class: "name", text: "Files" }), files.input)), trouble, save);
  const { dialog, closed } = open_dialog(title, form);
  return closed.then(() => changed);
}

export async function tokens_dialog(workspace, token) {
  const list = el("div", {}, el("p", { class: "soft", text: "Loading…" }));
  const { closed } = open_dialog(`Tokens of ${workspace.name}`, list);
  const load = async () => {
    try {
      const all = await call("GET", `/workspaces/${workspace.id}/tokens`, { token });
      const live = all.filter((each) => !each.revoked_at && !(each.expires_at && Date.parse(each.expires_at) < Date.now()));
      if (live.length === 0) return replace(list, el("p", { class: "soft", text: "No token is live." }));
      replace(list, el("ul", { class: "plain" }, live.map((each) => el("li", { class: "item" },
        el("div", {}, el("p", { class: "name mono", text: `${each.prefix}…` }),
          el("p", { class: "facts", text: [each.scope, each.name, `made ${moment(each.created_at)}`, each.last_used_at ? `used ${ago(each.last_used_at)}` : "never used"].filter(Boolean).join(" · ") })),
        button("Revoke", () => confirm_dialog({ title: `Revoke ${each.prefix}…?`, text: "Whoever uses it is refused within five seconds. This cannot be undone.", action: "Revoke",
          act: () => call("DELETE", `/workspaces/${workspace.id}/tokens/${each.token_id}`, { token }) }).then((done) => done && load()),
          { class: "danger", "aria-label": `Revoke ${each.prefix}` })))));
    } catch (error) {
      replace(list, note("bad", words_for(error)));
    }
  };
  load();
  return closed;
}

export function remove_dialog(workspace, token) {
  return confirm_dialog({ title: `Remove ${workspace.name}?`, typed: workspace.name, action: "Remove for good",
    text: "Its tokens are revoked and its id cannot be used again. Files that wait stay until they expire.",
    act: () => call("DELETE", `/workspaces/${workspace.id}?confirm=true`, { token }) });
}
