// Names, messages and notes that try to be markup stay text; tokens stay where they were put.
import assert from "node:assert/strict";
import { api, base, browse, enter, eventually, finish, send_file, test } from "./browser.mjs";

const { WORKSPACE: workspace, TOKEN: token, ADMIN: admin } = process.env;
const markup = `"><img src=x onerror="globalThis.ran=1"><script>globalThis.ran=1</script>`;
const name = `<img src=x onerror=globalThis.ran=1>.txt`;
await api("PATCH", `/workspaces/${workspace}`, token, { name: markup });
const { grant } = await api("POST", `/workspaces/${workspace}/upload-grants`, token, { note: markup, max_requests: 5 });

async function unharmed(page, text) {
  await eventually(`the page shows ${text}`, () => page.evaluate((wanted) => document.getElementById("main").textContent.includes(wanted), text));
  assert.equal(await page.evaluate(() => globalThis.ran), undefined);
  assert.equal(await page.locator("main img, main script").count(), 0);
}

await test("names, messages and notes are text", () => browse(() => [token, admin, grant], async ({ window }) => {
  const inbox = await window();
  await enter(inbox, "inbox", token);
  await inbox.getByText("Live", { exact: true }).waitFor();
  await send_file(workspace, token, name, "x");
  await api("POST", `/workspaces/${workspace}/a2a`, token, { jsonrpc: "2.0", id: "1", method: "message/send", params: { message: { role: "user", messageId: "m1", parts: [{ kind: "text", text: `said ${markup}` }] } } });
  await unharmed(inbox, name);
  await unharmed(inbox, `said ${markup}`);
  await inbox.reload();
  await enter(inbox, "inbox", token);
  await unharmed(inbox, name);
  const send = await window();
  await send.goto(`${base}/send#${grant}`);
  await send.locator("input[type=file]").setInputFiles([{ name, mimeType: "text/plain", buffer: Buffer.from("x") }]);
  await send.locator("upload-row[data-state=staged]").waitFor();
  await unharmed(send, name);
  await unharmed(send, markup);
  const operator = await window();
  await enter(operator, "operator", admin);
  await unharmed(operator, markup);
}));

await test("where Trusted Types are, text cannot become HTML at all", async () => {
  await browse(() => [], async ({ window, seen }) => {
    const page = await window();
    await page.goto(base);
    await page.getByRole("heading", { name: "Held until called for" }).waitFor();
    const refused = await page.evaluate(() => { try { document.body.innerHTML = "x"; return false; } catch { return true; } });
    assert.ok(refused);
    await page.evaluate(() => { globalThis.violations = []; });
    seen.problems.length = 0;
  });
});

await test("a token is kept in memory, or in the tab's storage when asked", () => browse(() => [token], async ({ window }) => {
  const page = await window();
  await enter(page, "inbox", token);
  await page.getByText("Live", { exact: true }).waitFor();
  const kept = () => page.evaluate(() => JSON.stringify({ ...sessionStorage }) + JSON.stringify({ ...localStorage }) + document.cookie + location.href);
  assert.ok(!(await kept()).includes(token));
  await page.getByRole("link", { name: "Send" }).click();
  await page.getByRole("heading", { name: "Send files" }).waitFor();
  await page.goBack();
  await page.getByText("Live", { exact: true }).waitFor();
  await page.reload();
  await page.getByLabel("Workspace token").fill(token);
  await page.getByLabel("Keep it until this tab is closed").check();
  await page.getByRole("button", { name: "Open" }).click();
  await page.getByText("Live", { exact: true }).waitFor();
  await page.reload();
  await page.getByText("Live", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Forget the token" }).click();
  await page.getByLabel("Workspace token").waitFor();
  assert.ok(!(await kept()).includes(token));
}));

await finish();
