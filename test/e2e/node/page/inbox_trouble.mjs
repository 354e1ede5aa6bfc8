// What can go wrong in the views of those who hold a token: the server away for a moment, and a token that ends.
import assert from "node:assert/strict";
import { api, base, browse, enter, eventually, finish, send_file, test } from "./browser.mjs";

const { WORKSPACE: workspace, TOKEN: token, ADMIN: admin } = process.env;

await test("a kept token stays until the server itself refuses it", () => browse(() => [token, admin], async ({ window }) => {
  for (const [view, secret, opened] of [["inbox", token, "Live"], ["operator", admin, "Over time"]]) {
    const page = await window();
    await page.goto(`${base}/${view}`);
    await page.getByLabel(/token/i).first().fill(secret);
    await page.getByLabel("Keep it until this tab is closed").check();
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByText(opened, { exact: true }).waitFor();
    let answers = [{ status: 502, body: "from the proxy" }];
    await page.route("**/token", (route) => (answers.length ? route.fulfill(answers.shift()) : route.continue()));
    await page.reload();
    await page.getByText("The server is busy or restarting.").waitFor();
    await page.getByText(opened, { exact: true }).waitFor();
    answers = [{ status: 500, json: { error: "internal error", code: "internal_error" } }];
    await page.reload();
    await page.getByLabel(/token/i).first().waitFor();
    await page.reload();
    await page.getByText(opened, { exact: true }).waitFor();
    answers = [{ status: 401, json: { error: "invalid token", code: "invalid_token" } }];
    await page.reload();
    await page.getByLabel(/token/i).first().waitFor();
    await page.reload();
    await page.getByLabel(/token/i).first().waitFor();
  }
}));

await test("what happens while the list is loaded is on it", () => browse(() => [token], async ({ window }) => {
  const page = await window();
  const told = [];  // over the socket
  page.on("websocket", (socket) => socket.on("framereceived", ({ payload }) => told.push(payload)));
  const { file_id } = await send_file(workspace, token, "early.txt", "x");
  await page.route("**/pending-uploads?*", async (route) => {
    const response = await route.fetch();
    await send_file(workspace, token, "meanwhile.txt", "x");
    await api("POST", `/workspaces/${workspace}/pending-uploads/${file_id}/ack`, token);
    await eventually("the page has heard of both", () => told.some((text) => text.includes("meanwhile.txt")) && told.some((text) => text.includes("UPLOAD_ACKED")));
    await route.fulfill({ response });
  }, { times: 1 });
  await enter(page, "inbox", token);
  await page.getByText("Live", { exact: true }).waitFor();
  await page.getByText("meanwhile.txt").first().waitFor();
  assert.equal(await page.locator("virtual-list .item").count(), 1, "what was confirmed is gone");
}));

await test("every open link can be seen, and a list that cannot be loaded says so", () => browse(() => [token], async ({ window }) => {
  const page = await window();
  for (let n = 1; n <= 25; n += 1) await api("POST", `/workspaces/${workspace}/upload-grants`, token, { note: `link ${n}` });
  await page.route("**/upload-grants", (route) => route.abort(), { times: 1 });
  await enter(page, "inbox", token);
  await page.getByText("No connection to the server.").waitFor();
  const links = page.getByRole("button", { name: /^Revoke link/ });
  await eventually("it comes by itself", async () => await links.count() === 20);
  await page.getByRole("button", { name: "Show more links" }).click();
  assert.equal(await links.count(), 25);
  assert.equal(await page.getByRole("button", { name: "Show more links" }).isVisible(), false);
  assert.match(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), /^Revoke link/);
}));

await test("a file whose bytes are lost is not offered again", () => browse(() => [token], async ({ window }) => {
  const page = await window();
  await send_file(workspace, token, "gone.txt", "x");
  await page.route("**/content", (route) => route.fulfill({ status: 500, json: { error: "the file is lost", code: "content_lost" } }));
  await enter(page, "inbox", token);
  await page.getByRole("button", { name: "Download gone.txt" }).click();
  await page.getByText("The file is lost.").first().waitFor();
  assert.equal(await page.getByText("Try again.").count(), 0);
}));

await test("a token that was revoked ends the view, and nothing asks again", () => browse(() => [token], async ({ window }) => {
  const page = await window();
  const { auth_token: short_lived, token_id } = await api("POST", `/workspaces/${workspace}/tokens`, token, {});
  let sockets = 0;
  page.on("websocket", () => { sockets += 1; });
  await enter(page, "inbox", short_lived);
  await page.getByText("Live", { exact: true }).waitFor();
  await api("DELETE", `/workspaces/${workspace}/tokens/${token_id}`, token);
  await page.getByText("Ended", { exact: true }).waitFor();
  await page.getByText("This token or link is not valid any more.").first().waitFor();
  const before = sockets;
  await page.evaluate(() => dispatchEvent(new Event("online")));
  await page.evaluate(() => fetch("/healthz").then(({ status }) => status));
  assert.equal(sockets, before);
}));

await finish();
