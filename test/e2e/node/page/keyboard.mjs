// Everything without a mouse.
import assert from "node:assert/strict";
import { api, base, browse, eventually, finish, send_file, test } from "./browser.mjs";

const { WORKSPACE: workspace, TOKEN: token, ADMIN: admin } = process.env;
const { grant } = await api("POST", `/workspaces/${workspace}/upload-grants`, token, { max_requests: 5 });
const focused = (page) => page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent);

// Tab until the focus is on what has this name.
async function tab_to(page, name) {
  for (let i = 0; i < 60; i += 1) {
    if (await focused(page) === name) return;
    await page.keyboard.press("Tab");
  }
  assert.fail(`Tab does not reach ${name}`);
}

await test("send", () => browse(() => [token, grant], async ({ window }) => {
  const page = await window();
  // The browser hands file choosers over from now on.
  const chosen = new Promise((resolve) => { page.on("filechooser", resolve); });
  await page.goto(`${base}/send#${grant}`);
  await page.getByText("Drop files here").waitFor();
  await page.keyboard.press("Tab");
  assert.equal(await focused(page), "Skip to content");
  // Past the header, and nothing else: the view stays, and so does the grant in the address.
  await page.evaluate(() => { document.querySelector(".drop").dataset.seen = "before"; });
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "main");
  assert.equal(page.url(), `${base}/send#${grant}`);
  await page.keyboard.press("Tab");
  assert.equal(await focused(page), "Choose files");
  assert.equal(await page.locator(".drop").getAttribute("data-seen"), "before");
  await tab_to(page, "Choose files");
  await page.keyboard.press("Enter");
  await (await chosen).setFiles([{ name: "typed.txt", mimeType: "text/plain", buffer: Buffer.from("typed") }]);
  await page.locator("upload-row[data-state=staged]").waitFor();
  await eventually("it is read out", () => page.evaluate(() => document.getElementById("said").textContent === "typed.txt: held for the receiver"));
}));

await test("a fragment that is no grant is none", () => browse(() => [token], async ({ window }) => {
  const page = await window();
  await page.goto(`${base}/send#main`);
  await page.getByLabel("Token", { exact: true }).waitFor();
}));

await test("inbox: sign in, make a link, confirm a file", () => browse(() => [token], async ({ window }) => {
  await send_file(workspace, token, "letter.txt", "dear");
  const page = await window();
  await page.goto(`${base}/inbox`);
  await page.getByLabel("Workspace token").waitFor();
  await page.keyboard.type(token);  // the field has the focus
  await page.keyboard.press("Enter");
  await page.getByText("Live", { exact: true }).waitFor();
  await tab_to(page, "Make a link");
  await page.keyboard.press("Enter");
  await tab_to(page, "Make the link");
  await page.keyboard.press("Enter");
  await page.locator("qr-code svg").waitFor();
  assert.equal(await focused(page), "Copy the link");
  await page.keyboard.press("Escape");
  await eventually("the dialog is closed", async () => await page.locator("dialog").count() === 0);
  assert.equal(await focused(page), "Make a link", "the focus is back");
  await page.evaluate(() => document.getElementById("main").focus());
  await tab_to(page, "Confirm letter.txt");
  await page.keyboard.press("Enter");
  await tab_to(page, "Confirm");
  await page.keyboard.press("Enter");
  await eventually("it is confirmed", async () => (await api("GET", `/workspaces/${workspace}/pending-uploads`, token)).every((each) => each.name !== "letter.txt"));
}));

await test("inbox: the focus stays on a button whose row is drawn again, and a download that failed can be tried again", () => browse(() => [token], async ({ window }) => {
  await send_file(workspace, token, "again.txt", "once more");
  const page = await window();
  await page.goto(`${base}/inbox`);
  await page.getByLabel("Workspace token").waitFor();
  await page.keyboard.type(token);
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Download again.txt" }).waitFor();
  let asked = 0;
  await page.route("**/content", (route) => (asked++ === 0 ? route.abort() : route.continue()));
  await tab_to(page, "Download again.txt");
  await page.keyboard.press("Enter");
  await page.locator("main").getByText("No connection to the server. Try again.").waitFor();
  await eventually("the focus is back", async () => await focused(page) === "Download again.txt");
  const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Enter")]);
  assert.equal(download.suggestedFilename(), "again.txt");
  await eventually("the row says nothing of it any more", async () => (await page.locator("virtual-list .item", { hasText: "again.txt" }).locator(".facts").textContent()).startsWith("9 B"));
}));

await test("operator: charts, their tables, and a quota", () => browse(() => [token, admin], async ({ window }) => {
  const page = await window();
  await page.goto(`${base}/operator`);
  await page.getByLabel("Admin token").waitFor();
  await page.keyboard.type(admin);
  await page.keyboard.press("Enter");
  const charts = page.locator("line-chart");
  await charts.nth(3).locator(".legend span").first().waitFor();
  for (const [n, title, unit] of [[0, "Requests a second", /\/s/], [1, "Bytes received", / B\/s|KB\/s|MB\/s/], [2, "Bytes waiting", / [KM]?B/], [3, "Time to answer", / (µs|ms|s)$/]]) {
    const chart = charts.nth(n);
    const axis = await chart.locator("> svg text").allTextContents();
    assert.ok(axis.some((text) => unit.test(text)) && axis.some((text) => /^\d\d:\d\d$/.test(text)), `${title}: ${axis}`);
    const label = await chart.locator("> svg").getAttribute("aria-label");
    assert.ok(label.startsWith(`${title}: `), label);
    await tab_to(page, label);
    await page.keyboard.press("ArrowLeft");
    await eventually("the readout has its time", async () => /\d\d:\d\d:\d\d/.test(await chart.locator(".legend").textContent()));
    await tab_to(page, "Show as a table");
    await page.keyboard.press("Enter");
    await chart.locator("table").waitFor();
    const lines = await chart.locator("thead th").allTextContents();
    assert.deepEqual(lines.slice(1), (await chart.locator(".legend span:has(svg)").allTextContents()).map((text) => text.replace(/ [\d.–].*$/, "")), title);
    assert.ok(await chart.locator("tbody tr").count() >= 10 && await chart.locator("caption").count() === 1, title);
    await page.keyboard.press("Tab");  // off the summary, which all charts name alike
  }
  const quota = page.getByRole("button", { name: "Quota of laptop" });
  await quota.first().waitFor();
  await tab_to(page, "Quota of laptop");
  await page.keyboard.press("Enter");
  await page.locator("dialog").waitFor();
  await page.keyboard.type("7");  // the first field has the focus
  await page.keyboard.press("Enter");
  await eventually("the dialog is closed", async () => await page.locator("dialog").count() === 0);
  await page.locator(".place", { hasText: "of 7 MB" }).first().waitFor();
  assert.equal(await focused(page), "Quota of laptop", "the focus is back, though the list was drawn again");
}));

await finish();
