// Calls to the server that this page came from. A token goes into a header, never into an address.

// The path in front of all of the server's, when a proxy has it under one: this file is <base>/assets/<build>/lib/api.js.
export const base = new URL("../../..", import.meta.url).pathname.replace(/\/$/, "");

export class ApiError extends Error {
  // By what it says of itself, an answer came through the server: its own, or that of a receiver which it passed on.
  static of(status, body, header) {
    const error = new ApiError(status, body, Number(header("Retry-After")) || undefined);
    error.passed_on = header("X-Request-Id") !== null && error.code === "unknown";
    return error;
  }
  constructor(status, body, retry_after) {
    super(body?.error ?? "no answer");
    this.status = status;            // 0: there was none
    this.code = body?.code ?? (status === 0 ? "offline" : "unknown");
    this.body = body ?? {};
    this.retry_after = retry_after;  // seconds
    this.passed_on = false;          // what a receiver has answered
  }
  // Worth another try with the same request: nobody answered, or somebody for whom that will pass. 408, 502 and 504 are
  // those of a proxy before the server, unless they are a receiver's, which may have taken the files all the same.
  get passing() {
    if (this.code === "workspace_unreachable") return false;
    if (this.passed_on && [408, 502, 504].includes(this.status)) return false;
    return [0, 408, 429, 502, 503, 504].includes(this.status) || this.code === "idempotency_key_running";
  }
  // The token is not, or no longer, good for this.
  get refused() { return this.status === 401 || this.status === 403; }
}

export function bearer(token) {
  return { Authorization: `Bearer ${token}` };
}

export async function answer(method, path, { token, json, headers, signal } = {}) {
  const init = { method, signal, headers: { ...bearer(token), ...headers }, cache: "no-store", credentials: "omit",
                 referrerPolicy: "no-referrer", redirect: "error" };
  if (!token) delete init.headers.Authorization;
  if (json !== undefined) {
    init.body = JSON.stringify(json);
    init.headers["Content-Type"] = "application/json";
  }
  let response;
  try {
    response = await fetch(base + path, init);
  } catch (failure) {
    if (failure.name === "AbortError") throw failure;
    throw new ApiError(0);
  }
  if (response.ok) return response;
  let body = null;
  try { body = await response.json(); } catch { /* not ours: a proxy's page */ }
  throw ApiError.of(response.status, body, (name) => response.headers.get(name));
}

export async function call(method, path, options) {
  const response = await answer(method, path, options);
  try {
    return await response.json();
  } catch {
    throw new ApiError(0);  // the answer was cut short
  }
}

export function pause(seconds, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal?.addEventListener("abort", () => { clearTimeout(timer); resolve(); }, { once: true });
  });
}

// How long to wait before try n: a second, two, four, at most half a minute, and not all pages at once.
export function backoff(n) {
  return Math.min(30, 2 ** Math.min(n, 5)) * (0.75 + Math.random() / 2);
}
