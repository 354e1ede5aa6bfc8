// Where the page is, and going from one view to another.
import assert from "node:assert/strict";
import http from "node:http";
import { api, base, browse, eventually, finish, test } from "./browser.mjs";

const { WORKSPACE: workspace, TOKEN: token } = process.env;
const { grant } = await api("POST", `/workspaces/${workspace}/upload-grants`, token, { max_requests: 20, max_files: 20, max_bytes: 100_000_000 });
const file = (name, size) => ({ name, mimeType: "application/octet-stream", buffer: Buffer.alloc(size, "r") });

// A proxy that has the server under /box, and takes that away.
async function proxy() {
  const { hostname, port } = new URL(base);
  const strays = [];
  const target = ({ method, url, headers }) => ({ hostname, port, method, headers, path: url.slice("/box".length) });
  const inside = ({ url }) => url.startsWith("/box/") || (strays.push(url), false);
  const server = http.createServer((request, response) => {
    if (!inside(request)) return response.writeHead(404).end();
    request.pipe(http.request(target(request), (answer) => { response.writeHead(answer.statusCode, answer.headers); answer.pipe(response); }));
  });
  server.on("upgrade", (request, client) => {
    if (!inside(request)) return client.destroy();
    http.request(target(request)).on("upgrade", (answer, upstream, head) => {
      const fields = answer.rawHeaders.reduce((text, part, i) => text + part + (i % 2 ? "\r\n" : ": "), "");
      client.write(`HTTP/1.1 101 Switching Protocols\r\n${fields}\r\n`);
      client.write(head);
      for (const [from, to] of [[client, upstream], [upstream, client]]) from.on("error", () => {}).on("close", () => to.destroy()).pipe(to);
    }).end();
  });
  await new Promise((resolve) => server.listen(0, hostname, resolve));
  return { address: `http://${hostname}:${server.address().port}/box`, strays, close: () => { server.close(); server.closeAllConnections(); } };
}

await test("it works behind a proxy that has it under a path", () => browse(() => [token, grant], async ({ window }) => {
  const { address, strays, close } = await proxy();
  const page = await window();
  await page.goto(`${address}/send#${grant}`);
  await page.locator("input[type=file]").setInputFiles([file("through.bin", 100)]);
  await page.locator("upload-row[data-state=staged]").waitFor();
  const [{ file_id }] = await api("GET", `/workspaces/${workspace}/pending-uploads`, token);
  await api("POST", `/workspaces/${workspace}/pending-uploads/${file_id}/ack`, token);
  await page.locator("upload-row[data-state=acked]").waitFor();
  await page.getByRole("link", { name: "Restante" }).click();
  await page.locator("a.sheet", { hasText: "Inbox" }).click();
  await page.getByLabel("Workspace token").fill(token);
  await page.getByRole("button", { name: "Open" }).click();
  await page.getByText("Live", { exact: true }).waitFor();
  assert.equal(page.url(), `${address}/inbox`);
  assert.equal(await page.locator("nav [aria-current]").textContent(), "Inbox");
  await page.reload();
  await page.getByLabel("Workspace token").waitFor();
  assert.deepEqual(strays, []);
  close();
}));

await test("a view with running uploads is not left unasked", () => browse(() => [token, grant], async ({ window }) => {
  const page = await window();
  const dialog = page.getByRole("dialog", { name: "Leave while files are on their way?" });
  await page.goto(`${base}/send#${grant}`);
  await page.getByRole("link", { name: "Inbox" }).click();
  await page.getByLabel("Workspace token").waitFor();
  await page.goBack();
  await page.getByText("Drop files here").waitFor();
  let release;
  const held = new Promise((resolve) => { release = resolve; });
  await page.route("**/chat/uploads", async (route) => { await held; await route.continue().catch(() => {}); });
  await page.locator("input[type=file]").setInputFiles([file("on-its-way.bin", 100)]);
  await page.getByRole("button", { name: "Cancel on-its-way.bin" }).waitFor();
  const here = page.url();
  for (const leave of [() => page.getByRole("link", { name: "Operator" }).click(), () => page.evaluate(() => history.forward())]) {
    await leave();
    await dialog.getByRole("button", { name: "Close" }).click();
    await eventually("the dialog is closed", async () => await dialog.count() === 0);
    assert.equal(page.url(), here);
    assert.equal(await page.locator("upload-row[data-state=cancelled]").count(), 0);
  }
  release();
  await page.locator("upload-row[data-state=staged]").waitFor();
  await page.getByRole("link", { name: "Inbox" }).click();
  await page.getByLabel("Workspace token").waitFor();
}));

await test("leaving all the same cancels them", () => browse(() => [token, grant], async ({ window }) => {
  const page = await window();
  await page.goto(`${base}/send#${grant}`);
  await page.route("**/chat/uploads", () => {});
  await page.locator("input[type=file]").setInputFiles([file("given-up.bin", 100)]);
  const [given_up] = await Promise.all([page.waitForEvent("requestfailed"), (async () => {
    await page.getByRole("link", { name: "Inbox" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Leave" }).click();
  })()]);
  assert.match(given_up.url(), /chat\/uploads$/);
  await page.getByLabel("Workspace token").waitFor();
}));

await finish();
