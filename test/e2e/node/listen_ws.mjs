// Follows /ws as a canvas does and prints an event a line. URL, TOKEN in the environment; AS=agent sends the headers
// of an agent instead of sub-protocols, with WORKSPACE and ORIGIN.
import WebSocket from "ws";

const { URL: url, TOKEN, AS, WORKSPACE, ORIGIN } = process.env;
const hex = Buffer.from(TOKEN, "utf8").toString("hex");
const socket = AS === "agent"
  ? new WebSocket(url, { headers: { Authorization: `Bearer ${TOKEN}`, "X-Workspace-ID": WORKSPACE, Origin: ORIGIN } })
  : new WebSocket(url, [`molecule-auth.${hex}`, "molecule-ws"]);
socket.on("open", () => console.log(JSON.stringify({ open: socket.protocol })));
socket.on("message", (data) => console.log(data.toString()));
socket.on("unexpected-response", (_, answer) => console.log(JSON.stringify({ refused: answer.statusCode })));
socket.on("error", (error) => console.log(JSON.stringify({ error: error.message })));
socket.on("close", (code) => {
  console.log(JSON.stringify({ closed: code }));
  process.exit(0);
});
