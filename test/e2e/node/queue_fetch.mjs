// What an A2A client of the SDK needs beside the address of a workspace: its token, and an answer that the SDK
// understands. The server answers {"status":"queued",…}, because the agent has not read the message yet; the SDK
// wants a JSON-RPC result with the id of its request, and this makes one: a task that was submitted.
export function queueFetch(token, submitted) {
  return async (url, init) => {
    const headers = new Headers(init?.headers);
    headers.set("Authorization", `Bearer ${token}`);
    const answer = await fetch(url, { ...init, headers });
    const said = await answer.clone().json();
    if (!answer.ok || said.status !== "queued") return answer;
    const { id, params } = JSON.parse(init.body);
    const result = submitted(params.message.messageId, params.message.contextId ?? "");
    return new Response(JSON.stringify({ jsonrpc: "2.0", id, result }), { headers: { "Content-Type": "application/json" } });
  };
}

export const submitted03 = (id, contextId) => ({ kind: "task", id, contextId, status: { state: "submitted" } });
export const submitted10 = (id, contextId) => ({ task: { id, contextId, status: { state: "TASK_STATE_SUBMITTED" } } });
