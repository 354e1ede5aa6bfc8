// Every view in both colour schemes, from 320 px to 1,920 px: no scrollbar across, nothing that axe-core finds serious.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { api, base, browse, enter, eventually, finish, picture, send_file, test } from "./browser.mjs";

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const { WORKSPACE: workspace, TOKEN: token, ADMIN: admin } = process.env;
const { grant } = await api("POST", `/workspaces/${workspace}/upload-grants`, token, { max_requests: 5, max_files: 5, note: "Photographs of the house" });

const long_name = `${"a very long name ".repeat(6)}.txt`.slice(-100);
const right_to_left = "تقرير ربع السنة.txt";

async function check(page, name) {
  await page.evaluate(() => document.fonts.ready);
  const across = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  await picture(page, name);
  assert.ok(across <= 0, `${name}: ${across} px wider than the window`);
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run({ resultTypes: ["violations"] }));
  const serious = violations.filter((each) => ["serious", "critical"].includes(each.impact));
  assert.deepEqual(serious.map((each) => `${each.id}: ${each.nodes.map((node) => `${node.html} ${node.failureSummary}`).join("\n")}`), [], name);
}

// From the narrowest to 4 K, in the same page.
async function stretch(page, name) {
  const { width, height } = page.viewportSize();
  for (const other of [320, 375, 700, 961, 1280, 2560, 3840]) {
    await page.setViewportSize({ width: other, height });
    const across = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(across <= 0, `${name} at ${other} px: ${across} px wider than the window`);
  }
  await page.setViewportSize({ width, height });
}

// A name of 100 characters is all there and stays in its row; one that is written from right to left is, on its own.
async function check_names(page, where, selector) {
  const found = await page.evaluate((chosen) => [...document.querySelectorAll(chosen)].map((each) => ({ text: each.textContent,
    direction: getComputedStyle(each).direction, outside: each.getBoundingClientRect().right > document.documentElement.clientWidth && !each.closest(".name") })), selector);
  assert.ok(found.some(({ text }) => [...text].length >= 100), `${where}: the long name is whole`);
  assert.deepEqual(found.filter(({ text }) => /[\u0590-\u07ff]/.test(text)).map(({ direction }) => direction).filter((each) => each !== "rtl"), [], where);
  assert.ok(found.some(({ direction }) => direction === "rtl"), `${where}: a name from right to left`);
  assert.deepEqual(found.filter(({ outside }) => outside), [], where);
}

async function tour(window, colorScheme, width) {
  const label = (view) => `${view}-${colorScheme}-${width}`;
  const page = await window({ colorScheme, viewport: { width, height: width < 500 ? 700 : 1000 }, reducedMotion: "reduce" });
  await page.goto(base);
  await page.getByRole("heading", { name: "Held until called for" }).waitFor();
  await check(page, label("home"));
  await page.goto(`${base}/send#${grant}`);
  await page.getByText("Drop files here").waitFor();
  await page.locator("input[type=file]").setInputFiles([{ name: long_name, mimeType: "text/plain", buffer: Buffer.from("x".repeat(700)) },
    { name: right_to_left, mimeType: "text/plain", buffer: Buffer.alloc(0) }]);
  await page.locator("upload-row[data-state=staged]").waitFor();
  await page.locator("upload-row[data-state=failed]").waitFor();
  await check(page, label("send"));
  await check_names(page, label("send"), "upload-row bdi");
  await stretch(page, label("send"));
  await page.goto(`${base}/inbox`);
  await page.getByLabel("Workspace token").waitFor();
  await check(page, label("gate"));
  await enter(page, "inbox", token);
  await page.getByText("Live", { exact: true }).waitFor();
  await page.locator("virtual-list .item").first().waitFor();
  await check(page, label("inbox"));
  await check_names(page, label("inbox"), "virtual-list bdi");
  await stretch(page, label("inbox"));
  await page.getByRole("button", { name: /^Confirm/ }).first().click();
  await check(page, label("confirm"));
  await page.getByRole("button", { name: "Close" }).click();
  await page.getByRole("button", { name: "Make a link" }).click();
  await page.getByRole("button", { name: "Make the link" }).click();
  await page.locator("qr-code svg").waitFor();
  await check(page, label("link"));
  await page.getByRole("button", { name: "Close" }).click();
  await enter(page, "operator", admin);
  await page.locator("line-chart").nth(3).locator(".legend span").first().waitFor();
  await page.locator(".place").first().waitFor();
  await eventually("the charts have something to show", () => page.locator("line-chart").first().evaluate((chart) => !chart.textContent.includes("requests –")));
  await page.getByText("Show as a table").first().click();
  await page.locator("line-chart table").waitFor();
  await check(page, label("operator"));
  await stretch(page, label("operator"));
  for (const what of ["Quota", "Tokens", "Remove"]) {
    await page.locator(".place").first().getByRole("button", { name: what }).click();
    if (what === "Tokens") await page.locator("dialog .item").first().waitFor();
    await check(page, label(what.toLowerCase()));
    await page.getByRole("button", { name: "Close" }).click();
  }
  await page.context().close();
}

await test("there is something to look at", async () => {
  await send_file(workspace, token, "holiday photo.jpg", "x".repeat(120_000), "image/jpeg");
  await send_file(workspace, token, "صورة من الرحلة.png", "y".repeat(60_000), "image/png");
  await send_file(workspace, token, "quarterly report, final version.pdf", "z".repeat(900_000), "application/pdf");
  await api("POST", `/workspaces/${workspace}/a2a`, token, { jsonrpc: "2.0", id: "1", method: "message/send", params: { message: { role: "user", messageId: `m-${Date.now()}`, parts: [{ kind: "text", text: "The report is in your inbox. Could you check page 3?" }] } } });
});
const widths = (process.env.WIDTHS ?? "320,1920").split(",").map(Number);
for (const scheme of ["light", "dark"])
  for (const width of widths)
    await test(`${scheme}, ${width} px`, () => browse(() => [token, admin, grant], ({ window }) => tour(window, scheme, width)));

await finish();
