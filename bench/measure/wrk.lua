-- Extends wrk: keeps answers, pipelines requests, pauses between them, and prints the results as one line of JSON.
-- Parameters: a file for answers, or '-'; how many bytes of answers to keep; the number of requests that a connection sends at
-- once; the average pause of a connection before the next request, in milliseconds.

-- `done` has a Lua state of its own, and reads the globals of the thread that sent the requests.
kept = 0
local sender

function setup(thread) sender = thread end

function init(parameters)
  local name, bytes, depth, pause = unpack(parameters)
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
  if tonumber(pause) > 0 then
    math.randomseed(1)
    delay = function() return math.random(0, 2 * tonumber(pause)) end
  end
end

function done(summary, latency)
  local failures = {}
  for kind, number in pairs(summary.errors) do
    if number > 0 then table.insert(failures, number .. ' ' .. kind) end
  end
  io.write(string.format(
    '\n{"requests":%d,"us":%d,"bytes":%d,"p50Us":%d,"p99Us":%d,"maxUs":%d,"kept":%d,"failed":"%s"}\n',
    summary.requests, summary.duration, summary.bytes, latency:percentile(50), latency:percentile(99), latency.max, sender:get('kept'),
    table.concat(failures, ', ')))
end
