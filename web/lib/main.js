// Which view an address shows. Moving between views keeps the page, and with it the tokens in memory.
import { backoff, base, pause } from "./api.js";
import { note, replace } from "./dom.js";
import { words_for } from "./words.js";
import { confirm_dialog } from "../parts/confirm-dialog.js";

const views = {
  "/": ["Restante", () => import("../views/home.js")],
  "/send": ["Send files", () => import("../views/send.js")],
  "/inbox": ["Inbox", () => import("../views/inbox.js")],
  "/operator": ["Operator", () => import("../views/operator.js")],
};

const view_here = () => location.pathname.slice(base.length);
const main = document.getElementById("main");
let leaving = null;
let shown = location.href;  // what the view on the page belongs to
let asking = false;

// A view that cannot be fetched is tried again, until it is there or somebody has gone elsewhere.
async function loaded(load, signal) {
  for (let failures = 0; ; failures += 1) {
    try {
      return await load();
    } catch (failure) {
      if (!(failure instanceof TypeError)) throw failure;  // a mistake in it, which fetching again does not mend
      // Twice, though the server answers: it is another version, which has no such file any more.
      const newer = failures > 0 && await fetch(`${base}/healthz`, { cache: "no-store" }).then(({ ok }) => ok, () => false);
      if (!signal.aborted) replace(main, note("warn", words_for({ code: newer ? "newer_page" : "offline" })));
      await pause(backoff(failures), signal);
      if (signal.aborted) return null;
    }
  }
}

async function show(moved) {
  const [title, load] = views[view_here()] ?? views["/"];
  shown = location.href;
  leaving?.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  document.title = title === "Restante" ? title : `${title} · Restante`;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.pathname === location.pathname) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  main.className = view_here() === "/operator" ? "wide" : "";
  const view = await loaded(load, signal);
  if (signal.aborted) return;
  replace(main);
  view.show(main, signal);
  performance.mark("interactive");
  if (moved) { main.focus({ preventScroll: true }); scrollTo(0, 0); }
}

// A view that would lose something prevents "leaving"; then the visitor decides.
const would_lose = () => !main.dispatchEvent(new Event("leaving", { cancelable: true }));

async function confirmed() {
  if (asking) return false;
  asking = true;
  const left = await confirm_dialog({ title: "Leave while files are on their way?", text: "What has not been sent yet is cancelled.", action: "Leave",
    act: async () => {} });
  asking = false;
  return left;
}

async function follow(link) {
  if (link.pathname === location.pathname || (would_lose() && !(await confirmed()))) return;
  history.pushState(null, "", link.pathname);
  show(true);
}

// Back, forward, or another fragment: the address has changed already, and is put back while the visitor is asked.
async function moved() {
  const there = location.href;
  if (there === shown) return;
  if (would_lose()) {
    history.pushState(null, "", shown);
    if (!(await confirmed())) return;
    history.pushState(null, "", there);
  }
  show(true);
}

// Without leaving #main in the address, which belongs to grants: another fragment would end the view, and its uploads.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-view]");
  if (!link || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  follow(link);
});
addEventListener("popstate", moved);
addEventListener("hashchange", moved);

// Whether there is a network at all; each view notices by itself whether the server answers.
const network = document.getElementById("network");
function tell_network() {
  network.hidden = navigator.onLine;
  network.textContent = navigator.onLine ? "" : "You are offline. Everything goes on by itself when the connection is back.";
}
addEventListener("online", tell_network);
addEventListener("offline", tell_network);
tell_network();
// The other views too, once there is nothing else to do: they open at once, also while the server is away.
show(false).then(() => (globalThis.requestIdleCallback ?? setTimeout)(() => {
  for (const [, load] of Object.values(views)) load().catch(() => {});
}));
