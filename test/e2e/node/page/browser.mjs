// A browser for the tests of the page, and what every test watches: violations of the policy, errors, requests.
import assert from "node:assert/strict";
import { mkdtemp, mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { chromium } from "playwright-core";

export const base = process.env.BASE;
export const limit = 60_000;
const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"];

const profile = await mkdtemp(path.join(tmpdir(), "restante-page-"));
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", headless: true, args: [...flags, `--disk-cache-dir=${profile}`], timeout: limit });

// At the end of each script. When one fails, the browser ends with it.
export async function finish() {
  await browser.close();
  await rm(profile, { recursive: true, force: true });
}

// Runs `body({window})`; each window has a profile of its own. Afterwards nothing that was watched may have happened: no
// violation of the policy, no uncaught error, no token in an address or a referrer.
export async function browse(tokens, body) {
  const seen = { problems: [], requests: [] };
  try {
    const window = async (options = {}) => {
      const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
      context.setDefaultTimeout(limit);
      await context.addInitScript(() => {
        globalThis.violations = [];
        document.addEventListener("securitypolicyviolation", (event) => globalThis.violations.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
      });
      const page = await context.newPage();
      page.on("pageerror", (error) => seen.problems.push(`uncaught: ${error.message}`));
      page.on("console", (line) => { if (/Content Security Policy|Trusted/i.test(line.text())) seen.problems.push(line.text()); });
      page.on("request", (request) => seen.requests.push(request));
      page.on("websocket", (socket) => seen.requests.push({ url: () => socket.url(), headers: () => ({}) }));
      return page;
    };
    await body({ window, seen });
    for (const context of browser.contexts())
      for (const page of context.pages()) seen.problems.push(...await page.evaluate(() => globalThis.violations ?? []).catch(() => []));
    assert.deepEqual(seen.problems, []);
    assert.ok(seen.requests.length > 0);
    for (const request of seen.requests) {
      const sent = request.url().split("#")[0] + JSON.stringify(request.headers().referer ?? "");
      for (const token of tokens()) assert.ok(!sent.includes(token), `a token in ${sent}`);
      assert.equal(request.headers().referer ?? "", "", "a referrer was sent");
    }
  } finally {
    for (const context of browser.contexts()) await context.close();
  }
}

export async function api(method, target, token, body) {
  const response = await fetch(base + target, { method, headers: { Authorization: `Bearer ${token}`, ...(body ? { "Content-Type": "application/json" } : {}) },
    body: body && JSON.stringify(body), signal: AbortSignal.timeout(limit) });
  assert.ok(response.ok, `${method} ${target}: ${response.status} ${await response.clone().text()}`);
  return response.json();
}

export async function send_file(workspace, token, name, content, type = "text/plain") {
  const form = new FormData();
  form.append("files", new Blob([content], { type }), name);
  const response = await fetch(`${base}/workspaces/${workspace}/chat/uploads`, { method: "POST", headers: { Authorization: `Bearer ${token}` }, body: form,
    signal: AbortSignal.timeout(limit) });
  assert.equal(response.status, 200, await response.clone().text());
  return (await response.json()).files[0];
}

// Signs in through the form, as a person does.
export async function enter(page, view, token) {
  await page.goto(`${base}/${view}`);
  await page.getByLabel(/token/i).first().fill(token);
  await page.getByRole("button", { name: "Open" }).click();
}

// Waits until `ask` gives something true; the last answer is in the message.
export async function eventually(what, ask) {
  const end = Date.now() + limit;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() > end) assert.fail(`not within ${limit / 1000} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export async function picture(page, name) {
  const folder = process.env.PICTURES;
  if (!folder) return;
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: path.join(folder, `${name}.png`), fullPage: true });
}

// One named case of a file; the name is printed, so that a failure says which.
export async function test(name, body) {
  const began = Date.now();
  await body();
  console.log(`ok ${name} (${Date.now() - began} ms)`);
}
