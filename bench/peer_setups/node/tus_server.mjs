// A peer of bench/peers: @tus/server with its file store, one process, as its README starts it; plus a check of the
// bearer token. DIRECTORY is where files go, PORT the port of 127.0.0.1, TOKEN what clients must send.
import { FileStore } from "@tus/file-store";
import { Server } from "@tus/server";

const expected = `Bearer ${process.env.TOKEN}`;

const server = new Server({
  path: "/files",
  datastore: new FileStore({ directory: process.env.DIRECTORY }),
  async onIncomingRequest(req) {
    if (req.headers.get("authorization") !== expected) throw { status_code: 401, body: "invalid token" };
  },
});

// Without this, a download that its client cuts off ends the process (Node 20, @tus/server 2.4.5: "ReadableStream is
// already closed").
process.on("uncaughtException", (error) => console.error(error.code, error.message));

server.listen({ host: "127.0.0.1", port: Number(process.env.PORT) });
