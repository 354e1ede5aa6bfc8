// node send_a2a.mjs 03|10 plain|queue: sends one message with the SDK of that version and says what it got.
// URL, TOKEN, MESSAGE_ID, FILE_URI in the environment.
import { queueFetch, submitted03, submitted10 } from "./queue_fetch.mjs";

const [version, how] = process.argv.slice(2);
const { URL: url, TOKEN, MESSAGE_ID, FILE_URI } = process.env;

const plainFetch = (to, init) => {
  const headers = new Headers(init?.headers);
  headers.set("Authorization", `Bearer ${TOKEN}`);
  return fetch(to, { ...init, headers });
};

async function send03() {
  const { ClientFactory, JsonRpcTransportFactory } = await import("a2a-sdk-03/client");
  const fetchImpl = how === "queue" ? queueFetch(TOKEN, submitted03) : plainFetch;
  const factory = new ClientFactory({ transports: [new JsonRpcTransportFactory({ fetchImpl })] });
  const card = {
    name: "agent", description: "", version: "1", protocolVersion: "0.3.0", url, preferredTransport: "JSONRPC",
    capabilities: {}, defaultInputModes: [], defaultOutputModes: [], skills: [],
  };
  const client = await factory.createFromAgentCard(card);
  const parts = [{ kind: "text", text: "hello from 0.3" },
    { kind: "file", file: { uri: FILE_URI, name: "a.txt", mimeType: "text/plain" } }];
  return client.sendMessage({ message: { kind: "message", messageId: MESSAGE_ID, role: "user", parts } });
}

async function send10() {
  const { ClientFactory, JsonRpcTransportFactory } = await import("a2a-sdk-10/client");
  const { AgentCard, SendMessageRequest } = await import("a2a-sdk-10");
  const fetchImpl = how === "queue" ? queueFetch(TOKEN, submitted10) : plainFetch;
  const factory = new ClientFactory({ transports: [new JsonRpcTransportFactory({ fetchImpl })] });
  const card = AgentCard.fromJSON({
    name: "agent", description: "", version: "1", capabilities: {}, defaultInputModes: [], defaultOutputModes: [],
    skills: [], supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
  });
  const client = await factory.createFromAgentCard(card);
  const parts = [{ text: "hello from 1.0" }, { url: FILE_URI, filename: "a.txt", mediaType: "text/plain" }];
  return client.sendMessage(SendMessageRequest.fromJSON({ message: { messageId: MESSAGE_ID, role: "ROLE_USER", parts } }));
}

try {
  const got = await (version === "03" ? send03() : send10());
  console.log(JSON.stringify({ got }));
} catch (error) {
  console.log(JSON.stringify({ error: error.message }));
}
