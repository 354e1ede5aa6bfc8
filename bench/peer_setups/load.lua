-- The requests that bench/peers sends with wrk. Settings come from the environment:
--
--   REQUESTS  a file with one request per line, its parts separated by tabs: method, path, headers. {n} in a path
--             becomes a number that no other request has
--   ONCE      if set, each line is sent once; otherwise the lines take turns
--   BODY      none; raw, the bytes alone; or form, the bytes as the one file of a multipart form
--   SIZE      how many bytes
--   PATCH     if set, the lines create tus uploads, and the bytes follow in a PATCH to where each answer says

local function random_bytes(count)
  local source = assert(io.open("/dev/urandom", "rb"))
  local bytes = source:read(count)
  source:close()
  return bytes
end

local boundary = "----restante-peers"

local function make_body()
  local kind = os.getenv("BODY")
  if kind == "none" then
    return ""
  end
  local bytes = random_bytes(tonumber(os.getenv("SIZE")))
  if kind == "raw" then
    return bytes
  end
  return "--" .. boundary .. "\r\n"
    .. 'Content-Disposition: form-data; name="files"; filename="file.bin"\r\n'
    .. "Content-Type: application/octet-stream\r\n\r\n" .. bytes .. "\r\n--" .. boundary .. "--\r\n"
end

local body = make_body()
local patching = os.getenv("PATCH")

-- The head of a request with this many bytes of body.
local function make_head(method, path, headers, length)
  local lines = {method .. " " .. path .. " HTTP/1.1", "Host: " .. wrk.headers["Host"]}
  for _, header in ipairs(headers) do
    lines[#lines + 1] = header
  end
  if os.getenv("BODY") == "form" then
    lines[#lines + 1] = "Content-Type: multipart/form-data; boundary=" .. boundary
  end
  if length then
    lines[#lines + 1] = "Content-Length: " .. length
  end
  return table.concat(lines, "\r\n") .. "\r\n\r\n"
end

local heads, patch_headers = {}, {}

local function read_requests()
  for line in io.lines(os.getenv("REQUESTS")) do
    local method, path, rest = line:match("^(%S+)\t(%S+)(.*)$")
    local headers = {}
    for header in rest:gmatch("\t([^\t]+)") do
      headers[#headers + 1] = header
      if header:match("^Authorization:") or header:match("^Tus%-Resumable:") then
        patch_headers[header] = true
      end
    end
    local length = method ~= "GET" and (patching and 0 or #body) or nil
    heads[#heads + 1] = make_head(method, path, headers, length)
  end
end

function init()
  read_requests()
end

local created = {} -- paths of tus uploads that have no bytes yet

local function patch_request(path)
  local headers = {"Content-Type: application/offset+octet-stream", "Upload-Offset: 0"}
  for header in pairs(patch_headers) do
    headers[#headers + 1] = header
  end
  return make_head("PATCH", path, headers, #body) .. body
end

local number, last = 0, 0

function request()
  if #created > 0 then
    return patch_request(table.remove(created))
  end
  number, last = number + 1, last + 1
  if last > #heads then
    assert(not os.getenv("ONCE"), "there are too few requests for this server")
    last = 1
  end
  local head = heads[last]:gsub("{n}", number)
  return patching and head or head .. body
end

-- If wrk finds a function of this name, it hands every answer to Lua. Only tus needs that.
if patching then
  function response(status, headers)
    if status == 201 then
      local location = headers["Location"] or headers["location"]
      created[#created + 1] = location:gsub("^https?://[^/]+", "")
    end
  end
end
