// What can go wrong while sending, each with its words: progress, cancel, offline and back, ends and limits.
import assert from "node:assert/strict";
import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { api, base, browse, eventually, finish, test } from "./browser.mjs";

const { WORKSPACE: workspace, TOKEN: token, ADMIN: admin } = process.env;
const MB = 1_000_000;
const file = (name, size, mimeType = "application/octet-stream") => ({ name, mimeType, buffer: Buffer.alloc(size, "r") });
const tokens = [token, admin];

async function grant(fields = {}) {
  const made = await api("POST", `/workspaces/${workspace}/upload-grants`, token, { max_requests: 20, max_files: 20, max_bytes: 500 * MB, ...fields });
  tokens.push(made.grant);
  return made.grant;
}
const waiting = async () => (await api("GET", `/workspaces/${workspace}/pending-uploads?limit=500`, token)).map((each) => each.name);

async function send_page(window, fields) {
  const page = await window();
  await page.goto(`${base}/send#${await grant(fields)}`);
  await page.locator("main").getByText("Drop files here").first().waitFor();
  return { page, choose: (...files) => page.locator("input[type=file]").setInputFiles(files), row: (name) => page.locator("upload-row", { hasText: name }) };
}

async function slow_down(page, bytes_a_second) {
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: bytes_a_second });
  return session;
}

// Positions of the bar, each further than the last.
async function watch(row, times) {
  const seen = [0];
  await eventually("the bar moves", async () => {
    const now = Number(await row.locator("[role=progressbar]").getAttribute("aria-valuenow"));
    assert.ok(now >= seen.at(-1), `${now} after ${seen}`);
    if (now > seen.at(-1)) seen.push(now);
    return seen.length > times;
  });
  return seen;
}

await test("progress moves, and cancel stores nothing", () => browse(() => tokens, async ({ window }) => {
  const { page, choose, row } = await send_page(window);
  await slow_down(page, 0.3 * MB);
  await choose(file("large.bin", 3 * MB));
  const seen = await watch(row("large.bin"), 3);
  assert.ok(seen.at(-1) < 100, "it was watched on its way");
  await page.locator("main").getByText(/ of 3 MB · .*\/s · .* left/).waitFor();
  await page.getByRole("button", { name: "Cancel large.bin" }).click();
  await page.locator("main").getByText("Cancelled; nothing was stored").first().waitFor();
  assert.deepEqual(await waiting(), []);
}));

await test("cancel after the last byte does not claim that nothing was stored", () => browse(() => tokens, async ({ window }) => {
  const { page, choose } = await send_page(window);
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", { offline: false, latency: 30_000, downloadThroughput: -1, uploadThroughput: -1 });
  await choose(file("posted.bin", 1000));
  await page.locator("main").getByText("Sent; the server is storing it").waitFor();
  await page.getByRole("button", { name: "Cancel posted.bin" }).click();
  await page.locator("main").getByText("Cancelled after it was sent; it may have been stored").waitFor();
  await session.detach();
  for (const { file_id } of await api("GET", `/workspaces/${workspace}/pending-uploads`, token)) await api("POST", `/workspaces/${workspace}/pending-uploads/${file_id}/ack`, token);
}));

await test("offline and back: it goes on by itself, and is stored once", () => browse(() => tokens, async ({ window }) => {
  const { page, choose, row } = await send_page(window);
  const network = await slow_down(page, MB);
  await choose(file("bridge.bin", 4 * MB));
  await watch(row("bridge.bin"), 2);
  await page.context().setOffline(true);
  await page.locator("#network").waitFor();
  await eventually("it waits", async () => await row("bridge.bin").getAttribute("data-state") === "waiting");
  await network.detach();
  await page.context().setOffline(false);
  await eventually("it arrives", async () => await row("bridge.bin").getAttribute("data-state") === "staged");
  assert.equal(await page.locator("#network").isVisible(), false);
  assert.deepEqual(await waiting(), ["bridge.bin"]);
  // The events are back too.
  const [{ file_id }] = await api("GET", `/workspaces/${workspace}/pending-uploads`, token);
  await api("POST", `/workspaces/${workspace}/pending-uploads/${file_id}/ack`, token);
  await eventually("it is confirmed", async () => await row("bridge.bin").getAttribute("data-state") === "acked");
}));

await test("a server that is stopping is tried again", () => browse(() => tokens, async ({ window }) => {
  const { page, choose, row } = await send_page(window);
  let answers = 0;
  await page.route("**/chat/uploads", (route) => (answers++ === 0 ? route.fulfill({ status: 503, headers: { "Retry-After": "1" }, json: { error: "shutting down", code: "platform_unavailable" } }) : route.continue()));
  await choose(file("patient.bin", 1000));
  await eventually("it arrives", async () => await row("patient.bin").getAttribute("data-state") === "staged");
  assert.equal(answers, 2);
}));

await test("what a proxy says while the server restarts is tried again", () => browse(() => tokens, async ({ window }) => {
  const { page, choose, row } = await send_page(window);
  const said = [408, 502, 504];
  await page.route("**/chat/uploads", (route) => (said.length ? route.fulfill({ status: said.shift(), headers: { "Retry-After": "1" }, contentType: "text/html", body: "<h1>from the proxy</h1>" }) : route.continue()));
  await choose(file("behind-a-proxy.bin", 1000));
  await page.locator("main").getByText("The server is busy or restarting. Trying again in 1 s.").waitFor();
  await eventually("it arrives", async () => await row("behind-a-proxy.bin").getAttribute("data-state") === "staged");
  assert.equal(said.length, 0);
  // The same status with the server's own word is another thing.
  await page.unroute("**/chat/uploads");
  await page.route("**/chat/uploads", (route) => route.fulfill({ status: 502, json: { error: "workspace unreachable", code: "workspace_unreachable" } }));
  await choose(file("unreachable.bin", 1000));
  await page.locator("main").getByText("The receiver does not answer.").waitFor();
  // So is a receiver's own, which the server has passed on: it may have taken the files.
  let passed_on = 0;
  await page.unroute("**/chat/uploads");
  await page.route("**/chat/uploads", (route) => { passed_on += 1; return route.fulfill({ status: 504, headers: { "X-Request-Id": "0123456789" }, contentType: "text/html", body: "late" }); });
  await choose(file("late.bin", 1000));
  await eventually("it has ended", async () => await row("late.bin").getAttribute("data-state") === "failed");
  assert.equal(passed_on, 1);
}));

await test("a file that is gone is said to be, and not taken for a network that is", () => browse(() => tokens, async ({ window }) => {
  const { page, choose, row } = await send_page(window, { max_requests: 1 });
  const folder = await mkdtemp(path.join(tmpdir(), "restante-gone-"));
  const [gone, stays] = ["gone.bin", "stays.bin"].map((name) => path.join(folder, name));
  for (const name of [gone, stays]) await writeFile(name, "here");
  await page.route("**/chat/uploads", async (route) => { await rm(gone); await route.abort(); });
  await choose(gone, stays);
  await row("gone.bin").getByText("The file could not be read.").waitFor();
  await row("stays.bin").getByText("Another file of the same request could not be read.").waitFor();
  await rm(folder, { recursive: true });
}));

await test("a receiver that is called answers itself, and holds nothing here", () => browse(() => tokens, async ({ window }) => {
  const { page, choose, row } = await send_page(window);
  const answers = [{ status: 200, json: { files: [{ name: "called.bin", path: "/in/called.bin" }] } }, { status: 201, json: {} }];
  await page.route("**/chat/uploads", (route) => route.fulfill(answers.shift()));
  for (const name of ["called.bin", "taken.bin"]) {
    await choose(file(name, 100));
    await row(name).getByText("Delivered to the receiver", { exact: true }).waitFor();
    assert.ok(!(await row(name).textContent()).includes("Held for the receiver"));
  }
}));

await test("a link that runs out", () => browse(() => tokens, async ({ window }) => {
  const { page, choose, row } = await send_page(window, { expires_in: 6 });
  let sockets = 0;
  page.on("websocket", () => { sockets += 1; });
  const refused = page.waitForResponse((response) => response.url().endsWith("/token") && response.status() === 401);
  await choose(file("in-time.bin", 100));
  await eventually("it arrives", async () => await row("in-time.bin").getAttribute("data-state") === "staged");
  await page.locator("main").getByText("This token or link is not valid any more.").first().waitFor();
  assert.equal(await page.locator(".drop").isVisible(), false);
  // It is over: nothing asks again, not even when the network comes back.
  await refused;
  const before = sockets;
  await page.evaluate(() => dispatchEvent(new Event("online")));
  await page.evaluate(() => fetch("/healthz").then(({ status }) => status));
  assert.equal(sockets, before);
  const late = await window();
  await late.goto(page.url());
  await late.locator("main").getByText("This token or link is not valid any more.").first().waitFor();
}));

await test("several files share the one request of a link, and then it is used up", () => browse(() => tokens, async ({ window }) => {
  const { page, choose } = await send_page(window, { max_requests: 1, max_files: 3 });
  await choose(file("a.bin", 10), file("b.bin", 20), file("c.bin", 30), file("d.bin", 40));
  await eventually("three arrive", async () => await page.locator("upload-row[data-state=staged]").count() === 3);
  await eventually("one is refused", async () => await page.locator("upload-row[data-state=failed]").count() === 1);
  await page.locator("main").getByText("Nothing is left of this link.").first().waitFor();
  assert.equal(await page.locator(".drop").isVisible(), false);
}));

await test("what does not fit takes no room from what does, and a file without a type is a stream of bytes", () => browse(() => tokens, async ({ window }) => {
  const { page, choose, row } = await send_page(window, { max_bytes: 1000, max_files: 2, types: ["application/octet-stream"] });
  const folder = await mkdtemp(path.join(tmpdir(), "restante-types-"));
  const untyped = path.join(folder, "untyped");
  await writeFile(untyped, "x".repeat(900));
  const large = path.join(folder, "large");
  await writeFile(large, "x".repeat(2000));
  await choose(large, untyped);
  await row("large").getByText("Nothing is left of this link.").waitFor();
  await eventually("the other one arrives", async () => await row("untyped").getAttribute("data-state") === "staged");
  await rm(folder, { recursive: true });
}));

await test("too large, the wrong type, no room", () => browse(() => tokens, async ({ window }) => {
  const { page, choose } = await send_page(window, { types: ["image/*"] });
  const folder = await mkdtemp(path.join(tmpdir(), "restante-large-"));
  const huge = path.join(folder, "huge.png");
  await writeFile(huge, "");
  await truncate(huge, 27 * MB);
  await choose(huge);
  await page.locator("main").getByText("Too large.").first().waitFor();
  await rm(folder, { recursive: true });
  await choose(file("words.txt", 10, "text/plain"));
  await page.locator("main").getByText("Files of this type are not accepted.").first().waitFor();
  await api("PUT", `/workspaces/${workspace}/quota`, admin, { max_bytes: 100 });
  await choose(file("one-too-many.png", 5000, "image/png"));
  await page.locator("main").getByText("The receiver's box is full.").first().waitFor();
}));

await finish();
