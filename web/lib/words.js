// What went wrong, in words, with what to do about it.
import { bytes } from "./format.js";

const by_code = {
  offline: ["No connection to the server.", "It goes on by itself as soon as the server can be reached."],
  newer_page: ["The server has a newer page than this one.", "Reload it."],
  invalid_token: ["This token or link is not valid any more.", "It has expired, was revoked, or was never right. Ask whoever gave it to you for a new one."],
  invalid_admin_token: ["This is not the admin token.", "The server reads it from --admin-token-file or RESTANTE_ADMIN_TOKEN."],
  missing_admin_token: ["The admin token is needed here.", "The server reads it from --admin-token-file or RESTANTE_ADMIN_TOKEN."],
  missing_token: ["A token is needed here.", "Enter the token of a workspace, or open the link that you were given."],
  too_many_failed_logins: ["Too many wrong tokens.", "Wait ten seconds and try again."],
  insufficient_scope: ["This token may not do that.", "A link for sending opens the Send view only; a token for reading changes nothing."],
  grant_exhausted: ["Nothing is left of this link.", "It was good for a limited number of files or bytes. Ask for a new one."],
  unsupported_media_type: ["Files of this type are not accepted.", "The link names the types that it takes."],
  quota_exceeded: ["The receiver's box is full.", "Nothing more is accepted until some files have been fetched and confirmed. Try again later."],
  empty_file: ["The file is empty.", "A file without bytes cannot be sent."],
  too_many_files: ["Too many files at once.", "Send them in several turns."],
  workspace_not_found: ["There is no such workspace.", "It may have been removed."],
  workspace_removed: ["The workspace has been removed.", "Its waiting files expire on their own."],
  idempotency_key_reused: ["The file changed while it was being sent.", "Choose it again."],
  platform_unavailable: ["The server cannot reach its database.", "It is tried again by itself."],
  content_store_unavailable: ["The store for large files does not answer.", "It is tried again by itself; small files still work."],
  too_many_tokens: ["There are too many links or tokens already.", "Revoke some first."],
  workspace_unreachable: ["The receiver does not answer.", "Files for it are passed on at once, and not held here. Try again later."],
  content_lost: ["The file is lost.", "The server does not have its bytes any more, or they are damaged. Ask for it to be sent again."],
  not_found: ["The file is not there any more.", "It was confirmed, or it has expired."],
  unreadable: ["The file could not be read.", "It may have been moved or changed, or is a folder."],
  other_unreadable: ["Another file of the same request could not be read.", "Choose this one again."],
};

// `error` is an ApiError, or anything with code, status and body.
export function words_for(error) {
  const { code, status, body = {} } = error;
  // 413 without a code is that of a proxy before the server.
  if (code === "file_too_large" || code === "request_too_large" || status === 413)
    return { title: "Too large.", advice: body.max ? `At most ${bytes(body.max)} can be sent here.` : "A smaller file can be sent." };
  if (by_code[code]) {
    const [title, advice] = by_code[code];
    return { title, advice };
  }
  if (status === 408) return { title: "The connection is too slow.", advice: "It is tried again by itself." };
  if ([502, 503, 504].includes(status)) return { title: "The server is busy or restarting.", advice: "It is tried again by itself." };
  if (status >= 500) return { title: "The server made a mistake.", advice: "Nothing was stored. Try again; its log has the details." };
  return { title: body.error ? `The server refused: ${body.error}.` : "The server refused.", advice: "" };
}
