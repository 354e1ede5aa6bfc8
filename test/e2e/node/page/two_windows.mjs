// The main path with two windows at once: a link is made in one, files are sent in the other, and both see what happens.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { api, base, browse, enter, eventually, finish, test } from "./browser.mjs";

const { WORKSPACE: workspace, TOKEN: token, ADMIN: admin } = process.env;
const files = ["one.txt", "two.txt", "three.txt"].map((name, i) => ({ name, mimeType: "text/plain", buffer: Buffer.from(`${name} `.repeat(2000 + i)) }));
let grant = "not made yet";
// Other scripts' workspaces are in the operator's list, too.
const name = "two windows";
await api("PATCH", `/workspaces/${workspace}`, token, { name });

await test("link, send, download, confirm", () => browse(() => [token, grant, admin], async ({ window }) => {
  const inbox = await window();
  await enter(inbox, "inbox", token);
  await inbox.getByText("Nothing is waiting", { exact: true }).waitFor();
  await inbox.getByText("Live", { exact: true }).waitFor();
  await inbox.getByRole("button", { name: "Make a link" }).click();
  await inbox.getByLabel("Note").fill("from the test");
  await inbox.getByRole("button", { name: "Make the link" }).click();
  const link = await inbox.locator("code.link").textContent();
  assert.match(link, /\/send#[\w-]{43}$/);
  grant = link.split("#")[1];
  await inbox.getByRole("button", { name: "Close" }).click();
  await inbox.getByText("from the test").waitFor();

  const send = await window();
  await send.goto(link);
  await send.getByRole("heading", { name }).waitFor();
  await send.locator("input[type=file]").setInputFiles(files);
  await eventually("three files are held", async () => await send.locator("upload-row[data-state=staged]").count() === 3);

  await eventually("the inbox has them without a reload", async () => await inbox.locator("virtual-list .item").count() === 3);
  const digest = createHash("sha256").update(files[1].buffer).digest("hex");
  await send.getByText(digest).waitFor();
  const [download] = await Promise.all([inbox.waitForEvent("download"), inbox.getByRole("button", { name: "Download two.txt" }).click()]);
  assert.deepEqual(await readFile(await download.path()), files[1].buffer);
  const row = send.locator("upload-row", { hasText: "two.txt" });
  await eventually("the sender sees that it was fetched", async () => await row.getAttribute("data-state") === "fetched");

  await inbox.getByRole("button", { name: "Confirm two.txt" }).click();
  await inbox.locator("dialog").getByRole("button", { name: "Confirm" }).click();
  await eventually("the sender sees that it was confirmed", async () => await row.getAttribute("data-state") === "acked");
  await eventually("each step has its time", async () => /Fetched \d\d:\d\d:\d\d.*Confirmed \d\d:\d\d:\d\d/.test(await row.textContent()));
  await eventually("it is off the list", async () => await inbox.locator("virtual-list .item").count() === 2);

  await api("POST", `/workspaces/${workspace}/a2a`, token, { jsonrpc: "2.0", id: "1", method: "message/send", params: { message: { role: "user", messageId: "m1", parts: [{ kind: "text", text: "Two of them are for you." }] } } });
  await inbox.getByText("Two of them are for you.").waitFor();

  await inbox.getByRole("button", { name: "Revoke from the test" }).click();
  await inbox.locator("dialog").getByRole("button", { name: "Revoke" }).click();
  await inbox.getByText("No link is open.").waitFor();
  await send.locator("input[type=file]").setInputFiles([files[0]]);
  await send.locator("upload-row[data-state=failed]").waitFor();
  await send.getByText("not valid any more").first().waitFor();
  assert.equal(await send.locator(".drop").isVisible(), false, "nothing can be dropped on a link that has ended");
}));

await test("the operator sees it, sets a quota, revokes and removes", () => browse(() => [token, admin], async ({ window }) => {
  const page = await window();
  await enter(page, "operator", token);
  await page.locator("main").getByText("This is not the admin token.").waitFor();
  await page.getByLabel("Admin token").fill(admin);
  await page.getByRole("button", { name: "Open" }).click();
  const row = page.locator(".place", { hasText: name }).filter({ hasText: "2 files" });
  await row.waitFor();
  await row.getByRole("button", { name: /^Quota/ }).click();
  await page.locator("dialog").getByLabel("Megabytes").fill("5");
  await page.locator("dialog").getByRole("button", { name: "Save" }).click();
  await page.locator(".place", { hasText: "of 5 MB" }).waitFor();
  assert.deepEqual((await api("GET", `/workspaces/${workspace}/quota`, admin)).own, { max_bytes: 5_000_000, max_files: null }, "what was left alone stays as everywhere");

  await api("PUT", `/workspaces/${workspace}/quota`, admin, { max_bytes: 100, max_files: null });
  await row.getByRole("button", { name: /^Quota/ }).click();
  assert.equal(await page.locator("dialog").getByLabel("Megabytes").inputValue(), "0.0001");
  await page.locator("dialog").getByLabel("Files").fill("9");
  await page.locator("dialog").getByRole("button", { name: "Save" }).click();
  await eventually("the dialog is closed", async () => await page.locator("dialog").count() === 0);
  assert.deepEqual((await api("GET", `/workspaces/${workspace}/quota`, admin)).own, { max_bytes: 100, max_files: 9 }, "a small limit is not rounded to none");

  await row.getByRole("button", { name: /^Tokens/ }).click();
  await page.locator("dialog").getByRole("button", { name: /^Revoke/ }).click();
  await page.locator("dialog").last().getByRole("button", { name: "Revoke", exact: true }).click();
  await page.getByText("No token is live.").waitFor();
  await page.getByRole("button", { name: "Close" }).click();

  await row.getByRole("button", { name: /^Remove/ }).click();
  const remove = page.getByRole("button", { name: "Remove for good" });
  assert.ok(await remove.isDisabled(), "not before the name is typed");
  await page.locator("dialog input").fill(name);
  await remove.click();
  await eventually("it is gone", async () => await row.count() === 0);
  assert.equal((await fetch(`${base}/workspaces/${workspace}`)).status, 410);
}));

await finish();
