// One upload request, with progress: fetch() reports none, XMLHttpRequest does. The same key with every try, so that
// files are stored once however often the connection breaks.
import { ApiError, backoff, base, bearer, pause } from "./api.js";

export class UnreadableFiles extends Error {
  constructor(files) {
    super("files cannot be read");
    this.files = files;
  }
}

// A file that was moved or changed, or is a folder, ends a request just as a broken connection does.
async function unreadable(files) {
  const looks = await Promise.allSettled(files.map((file) => file.slice(0, 1).arrayBuffer()));
  return files.filter((file, i) => looks[i].status === "rejected");
}

// Calls back sent(bytes) as it goes and waiting(error, seconds) before another try. Resolves with the answer; rejects
// with an ApiError, with UnreadableFiles, or with AbortError when the signal says so.
export async function upload(workspace, token, files, { sent, waiting }, signal) {
  const key = crypto.randomUUID?.() ?? Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
  for (let failures = 0; ; failures += 1) {
    try {
      return await attempt(workspace, token, files, key, sent, signal);
    } catch (error) {
      if (!(error instanceof ApiError) || !error.passing || signal.aborted) throw error;
      const seconds = error.retry_after ?? backoff(failures);
      waiting(error, seconds);
      const awake = new AbortController();
      const wake = () => awake.abort();
      addEventListener("online", wake, { once: true });
      signal.addEventListener("abort", wake, { once: true });
      await pause(seconds, awake.signal);
      removeEventListener("online", wake);
      if (signal.aborted) throw new DOMException("cancelled", "AbortError");
      sent(0);
    }
  }
}

function attempt(workspace, token, files, key, sent, signal) {
  return new Promise((resolve, reject) => {
    const form = new FormData();
    for (const file of files) form.append("files", file, file.name);
    const request = new XMLHttpRequest();
    request.open("POST", `${base}/workspaces/${workspace}/chat/uploads`);
    for (const [name, value] of Object.entries({ ...bearer(token), "Idempotency-Key": key })) request.setRequestHeader(name, value);
    request.responseType = "json";
    request.upload.addEventListener("progress", (event) => sent(event.loaded));
    request.addEventListener("load", () => {
      if (request.status >= 200 && request.status < 300 && request.response) resolve(request.response);
      else reject(ApiError.of(request.status, request.response, (name) => request.getResponseHeader(name)));
    });
    request.addEventListener("error", async () => {
      const lost = await unreadable(files);
      reject(lost.length ? new UnreadableFiles(lost) : new ApiError(0));
    });
    request.addEventListener("abort", () => reject(signal.aborted ? new DOMException("cancelled", "AbortError") : new ApiError(0)));
    // Without a network the request would hang until some timeout; given up now, it is sent again when there is one.
    const stop = () => request.abort();
    signal.addEventListener("abort", stop, { once: true });
    addEventListener("offline", stop, { once: true });
    request.addEventListener("loadend", () => { signal.removeEventListener("abort", stop); removeEventListener("offline", stop); });
    request.send(form);
  });
}
