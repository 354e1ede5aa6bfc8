// The pictures of the README, with files and people in them. web/screenshots runs it.
import { randomUUID } from "node:crypto";
import { api, base, browse, enter, eventually, finish, picture, send_file } from "./browser.mjs";

const { ADMIN: admin } = process.env;
const names = ["studio laptop", "Marta's agent", "invoices", "field notes", "translation desk"];
const places = [];
for (const name of names) {
  const id = randomUUID();
  const { auth_token } = await api("POST", "/registry/register", admin, { id, delivery_mode: "poll", name });
  places.push({ id, token: auth_token });
}
const [first] = places;
const sample = (size) => Buffer.alloc(size, "restante");
const said = (place, text) => api("POST", `/workspaces/${place.id}/a2a`, place.token, { jsonrpc: "2.0", id: "1", method: "message/send",
  params: { message: { role: "user", messageId: randomUUID(), parts: [{ kind: "text", text }] } } });

await send_file(first.id, first.token, "contract, signed.pdf", sample(1_840_000), "application/pdf");
await send_file(first.id, first.token, "façade, north side.jpg", sample(3_120_000), "image/jpeg");
await send_file(first.id, first.token, "measurements.csv", sample(48_200), "text/csv");
await said(first, "The contract is signed. The photographs of the north side follow in a minute.");
await said(first, "Could you put the measurements into the report?");
const link = await api("POST", `/workspaces/${first.id}/upload-grants`, first.token, { expires_in: 86400, max_requests: 20, max_files: 20, max_bytes: 200_000_000, note: "Photographs of the house" });
await api("PUT", `/workspaces/${places[2].id}/quota`, admin, { max_bytes: 10_000_000 });

// Traffic for the charts: some come, some go.
async function traffic(seconds) {
  for (let tick = 0; tick < seconds * 4; tick += 1) {
    const place = places[tick % places.length];
    const { file_id } = await send_file(place.id, place.token, `note-${tick}.txt`, sample(Math.round(60_000 * (1.2 + Math.sin(tick / 7)))));
    if (tick % 3) await api("POST", `/workspaces/${place.id}/pending-uploads/${file_id}/ack`, place.token);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}
const busy = traffic(Number(process.env.SECONDS ?? 45));

await browse(() => [], async ({ window }) => {
  const look = { viewport: { width: 1280, height: 800 }, deviceScaleFactor: 1 };
  const send = await window(look);
  await send.goto(`${base}/send#${link.grant}`);
  const choose = (...files) => send.locator("input[type=file]").setInputFiles(files.map(([name, size, mimeType]) => ({ name, mimeType, buffer: sample(size) })));
  await choose(["garden.jpg", 2_400_000, "image/jpeg"], ["stairs.jpg", 1_900_000, "image/jpeg"]);
  await eventually("two are held", async () => await send.locator("upload-row[data-state=staged]").count() === 2);
  const held = await api("GET", `/workspaces/${first.id}/pending-uploads?limit=500`, first.token);
  const garden = held.find((file) => file.name === "garden.jpg");
  await (await fetch(`${base}/workspaces/${first.id}/pending-uploads/${garden.file_id}/content`, { headers: { Authorization: `Bearer ${first.token}` } })).arrayBuffer();
  await api("POST", `/workspaces/${first.id}/pending-uploads/${garden.file_id}/ack`, first.token);
  await send.locator("upload-row[data-state=acked]").waitFor();
  const network = await send.context().newCDPSession(send);
  await network.send("Network.enable");
  await network.send("Network.emulateNetworkConditions", { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 1_500_000 });
  await choose(["north side, whole.jpg", 9_000_000, "image/jpeg"]);
  await eventually("it is half way", async () => Number(await send.locator("[role=progressbar]").getAttribute("aria-valuenow").catch(() => 0)) > 40);
  await picture(send, "page-send");
  await send.context().close();

  await busy;
  const inbox = await window(look);
  await enter(inbox, "inbox", first.token);
  await inbox.getByText("Live", { exact: true }).waitFor();
  await inbox.locator("virtual-list .item").first().waitFor();
  await inbox.screenshot({ path: `${process.env.PICTURES}/page-inbox.png` });
  await new Promise((resolve) => setTimeout(resolve, 11_000));  // the last ten seconds are in the series now
  const operator = await window({ ...look, viewport: { width: 1280, height: 1500 } });
  await enter(operator, "operator", admin);
  await operator.locator(".place").nth(4).waitFor();
  await operator.getByLabel("Span of the charts").selectOption("15");
  await eventually("the charts are drawn", () => operator.locator("line-chart").first().evaluate((chart) => chart.querySelectorAll("path.s0").length > 1 && !chart.textContent.includes("requests –")));
  await operator.screenshot({ path: `${process.env.PICTURES}/page-operator.png` });
});
await finish();
