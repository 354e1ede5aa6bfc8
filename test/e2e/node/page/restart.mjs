// A server that goes away under open pages and comes back: every view says so, and goes on by itself. The test in Python
// starts and stops the server when a line asks for it.
import assert from "node:assert/strict";
import { createInterface } from "node:readline";
import { api, base, browse, enter, eventually, finish, limit, send_file, test } from "./browser.mjs";

const { WORKSPACE: workspace, TOKEN: token, ADMIN: admin } = process.env;
const MB = 1_000_000;
const { grant } = await api("POST", `/workspaces/${workspace}/upload-grants`, token, { max_requests: 20, max_files: 20, max_bytes: 500 * MB });
const answers = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
async function server(what) {
  console.log(`server: ${what}`);
  assert.equal((await answers.next()).value, "done");
}
const waiting = async () => (await api("GET", `/workspaces/${workspace}/pending-uploads?limit=500`, token)).map((each) => each.name).sort();
const shows = (page, text) => page.locator("main").getByText(text).first().waitFor({ timeout: limit });

async function open_all(window) {
  const [send, inbox, operator] = [await window(), await window(), await window()];
  await send.goto(`${base}/send#${grant}`);
  await shows(send, "Drop files here");
  await enter(inbox, "inbox", token);
  await inbox.getByText("Live", { exact: true }).waitFor();
  await enter(operator, "operator", admin);
  await operator.locator(".place").first().waitFor();
  await eventually("the other views are loaded", () => send.evaluate(() => performance.getEntriesByType("resource").some((each) => each.name.endsWith("place-list.js"))));
  return { send, inbox, operator, row: (name) => send.locator("upload-row", { hasText: name }),
    choose: (name, size) => send.locator("input[type=file]").setInputFiles({ name, mimeType: "application/octet-stream", buffer: Buffer.alloc(size, "r") }) };
}

async function slow_upload({ send, row, choose }, name) {
  const network = await send.context().newCDPSession(send);
  await network.send("Network.enable");
  await network.send("Network.emulateNetworkConditions", { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 0.5 * MB });
  await choose(name, 6 * MB);
  await eventually("it is on its way", async () => Number(await row(name).locator("[role=progressbar]").getAttribute("aria-valuenow")) > 5);
  return network;
}
const state = async (row) => await row.getAttribute("data-state");

await test("a server is killed, and started again", () => browse(() => [token, admin, grant], async ({ window }) => {
  const pages = await open_all(window);
  const { send, inbox, operator, row, choose } = pages;
  const network = await slow_upload(pages, "cut-off.bin");
  await server("kill");
  await eventually("the upload waits", async () => await state(row("cut-off.bin")) === "waiting");
  assert.match(await row("cut-off.bin").textContent(), /No connection to the server\. Trying again in \d+ s\./);
  await choose("begun-while-away.bin", 1000);
  await eventually("so does one that is begun now", async () => await state(row("begun-while-away.bin")) === "waiting");
  await inbox.getByText("Connecting again", { exact: true }).waitFor();
  await shows(operator, "No connection to the server.");
  // Other views open all the same, and say what is wrong.
  await inbox.getByRole("link", { name: "Operator" }).click();
  await inbox.getByLabel("Admin token").fill(admin);
  await inbox.getByRole("button", { name: "Open" }).click();
  await shows(inbox, "No connection to the server.");
  await inbox.getByRole("link", { name: "Inbox" }).click();
  await shows(inbox, "No connection to the server.");

  await network.detach();
  await server("start");
  for (const name of ["cut-off.bin", "begun-while-away.bin"]) await eventually(`${name} arrives`, async () => await state(row(name)) === "staged");
  await inbox.getByText("Live", { exact: true }).waitFor();
  await inbox.getByText("2 files waiting").waitFor();
  await eventually("the operator's view has no trouble", async () => !(await operator.locator("main").textContent()).includes("No connection"));
  assert.deepEqual(await waiting(), ["begun-while-away.bin", "cut-off.bin"], "each is stored once");
  // Events come again, in both directions.
  await send_file(workspace, token, "afterwards.txt", "x");
  await inbox.getByText("3 files waiting").waitFor();
  const held = await api("GET", `/workspaces/${workspace}/pending-uploads?limit=500`, token);
  await api("POST", `/workspaces/${workspace}/pending-uploads/${held.find((each) => each.name === "cut-off.bin").file_id}/ack`, token);
  await eventually("the sender hears of it", async () => await state(row("cut-off.bin")) === "acked");
  await operator.locator(".place", { hasText: "2 files" }).first().waitFor();
}));

await test("a server is stopped in order, and started again", () => browse(() => [token, admin, grant], async ({ window }) => {
  const pages = await open_all(window);
  const { inbox, operator, row, choose } = pages;
  const network = await slow_upload(pages, "in-flight.bin");
  await server("stop");
  await inbox.getByText("Connecting again", { exact: true }).waitFor();
  await shows(operator, "No connection to the server.");
  // It was finished before the server went, or is told to wait; never given up.
  await eventually("it is said what becomes of it", async () => ["staged", "waiting"].includes(await state(row("in-flight.bin"))));
  await choose("later.bin", 1000);
  await eventually("it waits", async () => await state(row("later.bin")) === "waiting");
  await network.detach();
  await server("start");
  for (const name of ["in-flight.bin", "later.bin"]) await eventually(`${name} arrives`, async () => await state(row(name)) === "staged");
  await inbox.getByText("Live", { exact: true }).waitFor();
  assert.deepEqual((await waiting()).filter((name) => /in-flight|later/.test(name)), ["in-flight.bin", "later.bin"], "each is stored once");
}));

await test("a view that cannot be loaded is tried again", () => browse(() => [token], async ({ window }) => {
  const page = await window();
  let refused = 0;
  await page.route("**/views/inbox.js", (route) => (refused++ < 3 ? route.abort() : route.continue()));
  await page.goto(`${base}/inbox`);
  await shows(page, /No connection to the server\.|newer page/);
  await page.getByLabel("Workspace token").waitFor();
}));

await finish();
process.exit();
