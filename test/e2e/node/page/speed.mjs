// How quickly the first view can be used, how long the page is busy while 1,000 events come in, and thousands of rows.
// The machine does other things as well, so each is measured a few times and the middle one counts.
import assert from "node:assert/strict";
import { base, browse, enter, eventually, finish, limit, test } from "./browser.mjs";

const { WORKSPACE: workspace, TOKEN: token } = process.env;
const loads = 3, rounds = 5;
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

async function send_many(requests) {
  for (let i = 0; i < requests; i += 1) {
    const form = new FormData();
    for (let n = 0; n < 64; n += 1) form.append("files", new Blob(["x"], { type: "text/plain" }), `file-${i}-${n}.txt`);
    const response = await fetch(`${base}/workspaces/${workspace}/chat/uploads`, { method: "POST", headers: { Authorization: `Bearer ${token}` }, body: form, signal: AbortSignal.timeout(limit) });
    assert.equal(response.status, 200);
  }
}

// Opens a view, which can be used within a second. Every time all that it fetches, until nothing more comes, must fit.
async function measure(window, view, ready) {
  const times = [], sizes = [], tasks = [];
  for (let i = 0; i < loads; i += 1) {
    const page = await window();
    await page.addInitScript(() => {
      globalThis.busy = 0;
      new PerformanceObserver((list) => { for (const { duration } of list.getEntries()) globalThis.busy = Math.max(globalThis.busy, duration); }).observe({ type: "longtask", buffered: true });
    });
    await page.goto(`${base}${view}`);
    await ready(page);
    times.push(await page.evaluate(() => performance.getEntriesByName("interactive")[0].startTime));
    await page.waitForLoadState("networkidle");
    sizes.push(await page.evaluate(() => performance.getEntriesByType("navigation").concat(performance.getEntriesByType("resource")).reduce((sum, entry) => sum + entry.transferSize, 0)));
    tasks.push(await page.evaluate(() => globalThis.busy));
    await page.context().close();
  }
  console.log(`${view}: interactive after ${times.map(Math.round).join(", ")} ms, ${Math.max(...sizes)} bytes over the wire, longest task ${tasks.map(Math.round).join(", ")} ms`);
  assert.ok(median(times) < 1000, `${view}: ${times}`);
  assert.ok(Math.max(...sizes) <= 100_000, `${view}: ${sizes}`);
}

await test("every view can be used within a second, and is small with all that it loads ahead", () => browse(() => [token], async ({ window }) => {
  await measure(window, "/", (page) => page.getByRole("heading", { name: "Held until called for" }).waitFor());
  for (const view of ["/send", "/inbox", "/operator"]) await measure(window, view, (page) => page.getByLabel(/token/i).first().waitFor());
}));

await test("1,000 events do not hold the page up, and thousands of rows cost what is in sight", () => browse(() => [token], async ({ window }) => {
  const page = await window();
  await enter(page, "inbox", token);
  await page.getByText("Live", { exact: true }).waitFor();
  await page.evaluate(() => {
    globalThis.longest = 0;
    new PerformanceObserver((list) => { for (const entry of list.getEntries()) globalThis.longest = Math.max(globalThis.longest, entry.duration); }).observe({ type: "longtask" });
  });
  const longest = [];
  for (let i = 1; i <= rounds; i += 1) {
    await page.evaluate(() => { globalThis.longest = 0; });
    await send_many(16);
    const expected = `${(1024 * i).toLocaleString("en")} files waiting`;
    await eventually(expected, async () => (await page.locator(".lead").textContent()).startsWith(expected));
    longest.push(await page.evaluate(() => globalThis.longest));
  }
  console.log(`1,024 events: the longest task took ${longest.map(Math.round).join(", ")} ms (0: none above 50 ms)`);
  assert.ok(median(longest) < 50, `${longest}`);
  const rows = await page.locator("virtual-list .item").count();
  assert.ok(rows < 60, `${rows} rows are drawn`);
  // The list is drawn a frame after its number is shown, so the end may still move.
  const last = page.locator(`virtual-list [aria-posinset="${1024 * rounds}"]`);
  await eventually("the last row is in sight", async () => {
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    return last.isVisible();
  });
  assert.match(await last.textContent(), /file-15-63\.txt/);
  await page.reload();
}));

await finish();
