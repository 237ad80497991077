-- The time: the one that was given, or the server's.
local by_server = not now
if by_server then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end
local now_ms = math.floor(now / 1000)
