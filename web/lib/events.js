// Live events over a WebSocket that comes back by itself. An event is a hint; whoever listens reads the truth again
// after each `open`. It ends with `ended(error)` when the token does, which closes the socket and keeps it closed.
import { backoff, base, call, pause } from "./api.js";

export function listen(token, { open, event, lost, ended }, signal) {
  run();

  async function run() {
    let failures = 0;
    while (!signal.aborted) {
      const opened = await one_connection(() => { failures = 0; open(); });
      if (signal.aborted) return;
      lost?.();
      const refusal = await Promise.race([refused(), pause(10, signal)]);
      if (refusal) return ended(refusal);
      if (signal.aborted) return;
      failures = opened ? 0 : failures + 1;
      const waiting = new AbortController();
      const wake = () => waiting.abort();
      addEventListener("online", wake, { once: true });
      signal.addEventListener("abort", wake, { once: true });
      await pause(backoff(failures), waiting.signal);
      removeEventListener("online", wake);
    }
  }

  // A socket does not say why it was closed.
  async function refused() {
    try {
      await call("GET", "/token", { token, signal });
    } catch (error) {
      if (error.status === 401) return error;
    }
    return null;
  }

  // Whether it was open at all.
  function one_connection(on_open) {
    return new Promise((resolve) => {
      const address = new URL(`${base}/ws`, location.href);
      address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
      address.hash = "";
      const socket = new WebSocket(address, ["restante.v1", `bearer.${token}`]);
      let was_open = false;
      const close = () => socket.close();
      signal.addEventListener("abort", close, { once: true });
      addEventListener("offline", close, { once: true });
      socket.addEventListener("open", () => { was_open = true; on_open(); });
      socket.addEventListener("message", ({ data }) => {
        let frame;
        try { frame = JSON.parse(data); } catch { return; }
        event(frame);
      });
      socket.addEventListener("close", () => {
        signal.removeEventListener("abort", close);
        removeEventListener("offline", close);
        resolve(was_open);
      });
    });
  }
}
