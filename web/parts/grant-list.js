// The links that are good for something still, with a way to end them.
import { call } from "../lib/api.js";
import { button, el, replace } from "../lib/dom.js";
import { bytes, in_time, plural } from "../lib/format.js";
import { confirm_dialog } from "./confirm-dialog.js";

const at_once = 20;

// Rejects with an ApiError. `reload` is called when one was revoked.
export async function fill_grants(into, workspace, token, signal, reload) {
  const grants = await call("GET", `/workspaces/${workspace}/upload-grants`, { token, signal });
  const live = grants.filter((grant) => !grant.revoked_at && Date.parse(grant.expires_at) > Date.now() && grant.left.requests > 0 && grant.left.files > 0);
  if (live.length === 0) return replace(into, el("p", { class: "soft small", text: "No link is open." }));
  const revoke = async (grant) => {
    const done = await confirm_dialog({ title: "Revoke this link?", text: "Whoever has it cannot send any more. Files that were sent stay.", action: "Revoke",
      act: () => call("DELETE", `/workspaces/${workspace}/upload-grants/${grant.grant_id}`, { token }) });
    if (done) reload();
  };
  const list = el("ul", { class: "plain" });
  const more = button("Show more links", () => show().querySelector("button").focus());
  // The next ones; gives the first of them.
  const show = () => {
    const rows = live.splice(0, at_once).map((grant) => row(grant, () => revoke(grant)));
    list.append(...rows);
    more.hidden = live.length === 0;
    return rows[0];
  };
  show();
  replace(into, list, more);
}

function row(grant, revoke) {
  const name = grant.note ?? grant.prefix;
  return el("li", { class: "item" },
    el("div", {}, el("p", { class: "name" }, el("bdi", { text: grant.note ?? `${name}…`, dir: "auto" })),
      el("p", { class: "facts", text: `${plural(grant.left.files, "file")}, ${bytes(grant.left.bytes)} left · ends ${in_time(grant.expires_at)}` })),
    button("Revoke", revoke, { "aria-label": `Revoke ${name}` }));
}
