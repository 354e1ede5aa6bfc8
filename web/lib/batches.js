// How files are divided into requests. A link may be good for one request only, so that several files have to share it;
// otherwise each travels alone and can be cancelled alone.

// `left` is what is left of the grant, or null; `limits` those of the server. Returns batches of files, and
// [file, error] for those that need not be tried.
export function divide(files, grant, limits) {
  const refused = [];
  let rest = files.filter((file) => {
    const why = refusal(file, grant, limits);
    if (why) refused.push([file, why]);
    return !why;
  });
  const left = grant?.left ?? { requests: Infinity, files: Infinity, bytes: Infinity };
  let { files: places, bytes: room } = left;
  rest = rest.filter((file) => {
    const fits = places > 0 && file.size <= room;
    if (fits) { places -= 1; room -= file.size; }
    else refused.push([file, { code: "grant_exhausted" }]);
    return fits;
  });
  if (left.requests >= rest.length) return { batches: rest.map((file) => [file]), refused };
  const batches = [];
  let size = 0;
  for (const file of rest) {
    const batch = batches.at(-1);
    if (batch && size + file.size <= limits.per_request_bytes && batch.length < limits.max_attachments_per_message) {
      batch.push(file);
      size += file.size;
    } else if (batches.length < left.requests) {
      batches.push([file]);
      size = file.size;
    } else {
      refused.push([file, { code: "grant_exhausted" }]);
    }
  }
  return { batches, refused };
}

function refusal(file, grant, limits) {
  if (file.size === 0) return { code: "empty_file" };
  if (file.size > limits.per_file_bytes) return { code: "file_too_large", body: { max: limits.per_file_bytes } };
  const types = grant?.types;
  const own = file.type || "application/octet-stream";  // which browsers send where they know of none
  const fits = (type) => (type.endsWith("/*") ? own.startsWith(type.slice(0, -1)) : own === type);
  if (types && !types.some(fits)) return { code: "unsupported_media_type" };
  return null;
}
