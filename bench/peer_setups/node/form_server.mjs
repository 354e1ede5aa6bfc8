// A peer of bench/peers: the uploads and the inbox of Restante's contract on node:http, busboy and pg. A worker
// process for each core; files are kept in memory until they are complete, then stored with their activity row in
// one transaction. Waiting readers are told by LISTEN and NOTIFY.
// The variables of libpq (PGHOST, PGDATABASE, …) name the database, PORT is the port of 127.0.0.1 to listen on.
import { createHash, randomBytes } from "node:crypto";
import cluster from "node:cluster";
import http from "node:http";
import os from "node:os";
import busboy from "busboy";
import pg from "pg";

const cores = os.availableParallelism();
const connections = Math.max(2, 16 / cores); // to the database: 16 in all, as many as Restante opens by default
const maxFileBytes = 25 << 20;

const pool = new pg.Pool({ max: connections });

// A prepared statement under a name of its own.
const statement = (name, text) => (on, ...values) => on.query({ name, text, values });

const findToken = statement("find_token", `
SELECT t.workspace_id
  FROM workspace_auth_tokens t JOIN workspaces w ON w.id = t.workspace_id
 WHERE t.token_hash = $1 AND t.revoked_at IS NULL AND w.status != 'removed'`);

const addWorkspace = statement("add_workspace", `
INSERT INTO workspaces (id, name, delivery_mode) VALUES ($1, $2, 'poll') ON CONFLICT (id) DO NOTHING`);

const addToken = statement("add_token", `
INSERT INTO workspace_auth_tokens (workspace_id, token_hash, prefix) VALUES ($1, $2, $3)`);

const addFile = statement("add_file", `
INSERT INTO pending_uploads (workspace_id, content, size_bytes, filename, mimetype)
VALUES ($1, $2, $3, $4, $5) RETURNING file_id`);

const addActivity = statement("add_activity", `
WITH added AS (
    INSERT INTO activity_logs (workspace_id, activity_type, target_id, method, summary, request_body)
    VALUES ($1, 'a2a_receive', $1, 'chat_upload_receive', $2, $3) RETURNING workspace_id)
SELECT pg_notify('inbox', workspace_id::text) FROM added`);

const getFile = statement("get_file", `
SELECT content, filename, mimetype FROM pending_uploads
 WHERE file_id = $1 AND workspace_id = $2 AND acked_at IS NULL AND expires_at > now()`);

const getActivity = statement("get_activity", `
SELECT id, seq, activity_type, method, summary, request_body, created_at
  FROM activity_logs WHERE workspace_id = $1 AND seq > $2 ORDER BY seq LIMIT 100`);

function answer(res, status, value) {
  const text = JSON.stringify(value);
  res.writeHead(status, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text) }).end(text);
}

const hashOf = (token) => createHash("sha256").update(token).digest();

async function mayUse(req, workspace) {
  const token = /^Bearer (\S+)$/.exec(req.headers.authorization ?? "")?.[1];
  if (!token) return false;
  const { rows } = await findToken(pool, hashOf(token));
  return rows[0]?.workspace_id === workspace;
}

async function readJson(req) {
  const chunks = [];
  for await (const chunk of req) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks));
}

async function register(req, res) {
  const { id } = await readJson(req);
  const token = randomBytes(32).toString("base64url");
  await addWorkspace(pool, id, id);
  await addToken(pool, id, hashOf(token), token.slice(0, 8));
  answer(res, 200, { status: "registered", auth_token: token, delivery_mode: "poll" });
}

const safeName = (name) => name.replace(/[^a-zA-Z0-9._-]/g, "_").slice(0, 100) || "file";

function readForm(req) {
  return new Promise((resolve, reject) => {
    const files = [];
    const form = busboy({ headers: req.headers, limits: { fileSize: maxFileBytes } });
    form.on("file", (_field, stream, { filename, mimeType }) => {
      const chunks = [];
      stream.on("data", (chunk) => chunks.push(chunk));
      stream.on("limit", () => reject(new Error("file exceeds the limit")));
      stream.on("end", () => files.push({ name: safeName(filename ?? ""), mimeType, content: Buffer.concat(chunks) }));
    });
    form.on("close", () => resolve(files));
    form.on("error", reject);
    req.pipe(form);
  });
}

async function store(workspace, files) {
  const db = await pool.connect();
  try {
    await db.query("BEGIN");
    for (const f of files) {
      const { rows } = await addFile(db, workspace, f.content, f.content.length, f.name, f.mimeType);
      f.uri = `platform-pending:${workspace}/${rows[0].file_id}`;
      const body = { file_id: rows[0].file_id, name: f.name, mimeType: f.mimeType, size: f.content.length, uri: f.uri };
      await addActivity(db, workspace, `chat_upload_receive: ${f.name}`, JSON.stringify(body));
    }
    await db.query("COMMIT");
    db.release();
  } catch (error) {
    db.release(error); // closes the connection, which rolls back
    throw error;
  }
}

async function upload(req, res, workspace) {
  const files = await readForm(req);
  if (files.length === 0) return answer(res, 400, { error: "no files field in request" });
  await store(workspace, files);
  const staged = files.map((f) => ({ uri: f.uri, name: f.name, mimeType: f.mimeType, size: f.content.length }));
  answer(res, 200, { files: staged });
}

async function fetchFile(res, workspace, file) {
  const { rows } = await getFile(pool, file, workspace);
  if (rows.length === 0) return answer(res, 404, { error: "not found" });
  const { content, filename, mimetype } = rows[0];
  res.writeHead(200, {
    "Content-Type": mimetype || "application/octet-stream",
    "Content-Disposition": `attachment; filename="${filename}"`,
    "Content-Length": content.length,
  }).end(content);
}

const waiting = new Map(); // workspace → the functions that wake its readers

function nextActivity(workspace, seconds) {
  return new Promise((resolve) => {
    const readers = waiting.get(workspace) ?? new Set();
    waiting.set(workspace, readers.add(done));
    const timer = setTimeout(done, seconds * 1000);
    function done() {
      clearTimeout(timer);
      readers.delete(done);
      if (readers.size === 0) waiting.delete(workspace);
      resolve();
    }
  });
}

async function activity(res, workspace, query) {
  const since = query.get("since_seq") ?? 0;
  const seconds = Math.min(Number(query.get("wait") ?? 0), 55);
  const woken = seconds > 0 ? nextActivity(workspace, seconds) : null; // before the query, to miss nothing
  let { rows } = await getActivity(pool, workspace, since);
  if (rows.length === 0 && woken) {
    await woken;
    ({ rows } = await getActivity(pool, workspace, since));
  }
  answer(res, 200, rows);
}

async function route(req, res) {
  const url = new URL(req.url, "http://localhost");
  if (req.method === "POST" && url.pathname === "/registry/register") return register(req, res);
  const [, root, workspace, kind, file] = url.pathname.split("/");
  if (root !== "workspaces" || !(await mayUse(req, workspace))) return answer(res, 401, { error: "invalid token" });
  if (req.method === "POST" && kind === "chat") return upload(req, res, workspace);
  if (req.method === "GET" && kind === "pending-uploads") return fetchFile(res, workspace, file);
  if (req.method === "GET" && kind === "activity") return activity(res, workspace, url.searchParams);
  answer(res, 404, { error: "not found" });
}

async function listenForActivity() {
  const listener = new pg.Client();
  await listener.connect();
  listener.on("notification", ({ payload }) => {
    for (const wake of [...(waiting.get(payload) ?? [])]) wake();
  });
  await listener.query("LISTEN inbox");
}

if (cluster.isPrimary) {
  for (let i = 0; i < cores; ++i) cluster.fork();
  cluster.on("exit", () => process.exit(1));
} else {
  await listenForActivity();
  const server = http.createServer((req, res) => {
    route(req, res).catch((error) => {
      console.error(error);
      if (!res.headersSent) answer(res, 500, { error: error.message });
    });
  });
  server.listen(Number(process.env.PORT), "127.0.0.1");
}
