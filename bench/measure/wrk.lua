-- Extends wrk: keeps answers, pipelines requests, and prints the results as one line of JSON.
-- Parameters: a file for answers, or '-'; how many bytes of answers to keep; the number of requests that a connection sends at
-- once.

-- `done` has a Lua state of its own, and reads the globals of the thread that sent the requests.
kept = 0
local sender

function setup(thread) sender = thread end

function init(parameters)
  local name, bytes, depth = unpack(parameters)
  if name ~= '-' then
    local file, left = assert(io.open(name, 'wb')), tonumber(bytes)
    response = function(_, _, body)
      if left < #body then return end
      left, kept = left - #body, kept + 1
      file:write(body)
    end
  end
  if tonumber(depth) > 1 then
    local requests = string.rep(wrk.format(), tonumber(depth))
    request = function() return requests end
  end
end

function done(summary, latency)
  local failures = {}
  for kind, number in pairs(summary.errors) do
    if number > 0 then table.insert(failures, number .. ' ' .. kind) end
  end
  io.write(string.format(
    '\n{"requests":%d,"us":%d,"bytes":%d,"p99Us":%d,"maxUs":%d,"kept":%d,"failed":"%s"}\n',
    summary.requests, summary.duration, summary.bytes, latency:percentile(99), latency.max, sender:get('kept'),
    table.concat(failures, ', ')))
end
