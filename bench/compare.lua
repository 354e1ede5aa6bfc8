-- The requests that bench/compare sends with wrk. Settings come from the environment:
--
--   KIND     upload, fetch or poll
--   TARGETS  a file with one workspace per line: id, token and, for fetch and poll, a file id or a cursor
--   SIZE     for upload: bytes of each file
--   FILES    for upload: files in one request

local kind = os.getenv("KIND")
local boundary = "----restante-compare"

local function read_targets()
  local targets = {}
  for line in io.lines(os.getenv("TARGETS")) do
    local id, token, item = line:match("^(%S+) (%S+) ?(%S*)$")
    targets[#targets + 1] = {id = id, token = token, item = item}
  end
  return targets
end

-- Random bytes, so that neither PostgreSQL nor the network can compress them.
local function random_bytes(count)
  local source = assert(io.open("/dev/urandom", "rb"))
  local bytes = source:read(count)
  source:close()
  return bytes
end

local function make_form()
  local content = random_bytes(tonumber(os.getenv("SIZE")))
  local parts = {}
  for i = 1, tonumber(os.getenv("FILES")) do
    parts[i] = "--" .. boundary .. "\r\n"
      .. 'Content-Disposition: form-data; name="files"; filename="f' .. i .. '.bin"\r\n'
      .. "Content-Type: application/octet-stream\r\n\r\n" .. content .. "\r\n"
  end
  return table.concat(parts) .. "--" .. boundary .. "--\r\n"
end

local function make_request(target, form)
  local base = "/workspaces/" .. target.id
  local headers = {["Authorization"] = "Bearer " .. target.token}
  if kind == "upload" then
    headers["Content-Type"] = "multipart/form-data; boundary=" .. boundary
    return wrk.format("POST", base .. "/chat/uploads", headers, form)
  elseif kind == "fetch" then
    return wrk.format("GET", base .. "/pending-uploads/" .. target.item .. "/content", headers)
  end
  return wrk.format("GET", base .. "/activity?since_id=" .. target.item .. "&limit=100", headers)
end

local requests, last = {}, 0

function init()
  local form = kind == "upload" and make_form() or nil
  for i, target in ipairs(read_targets()) do
    requests[i] = make_request(target, form)
  end
end

function request()
  last = last % #requests + 1
  return requests[last]
end

local failed = 0

-- Because this function exists, wrk assembles every body and passes it to Lua. That costs wrk CPU, but it is
-- the same for both servers.
function response(status, _, body)
  if status ~= 200 then
    failed = failed + 1
    if failed < 3 then
      io.stderr:write("status ", status, ": ", body:sub(1, 300), "\n")
    end
  end
end
