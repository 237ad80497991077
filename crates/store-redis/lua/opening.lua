-- Reads the request, the time and what is stored. The scripts for one key begin with this.
--
-- KEYS: the key. ARGV: operation (t take, p peek, g give back), cost, limit, window and capacity,
-- milliseconds that a key outlives its rest, and the time, empty for that of the server.
-- Times and windows are in microseconds. The reply is {written, time, stored before}, where
-- `written` is 1 for an admission that was stored, 0 for nothing stored, and -1 for a value that
-- is not ours and was left alone.
--
-- A Lua number is a double, which holds integers exactly below 2^53. Nothing here is stored, compared
-- or answered that was computed beyond it.
local EXACT = 9007199254740992
local floor, ceil, min, max = math.floor, math.ceil, math.min, math.max
local operation, cost = ARGV[1], tonumber(ARGV[2])
local limit, window, capacity = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local grace, now = tonumber(ARGV[6]), tonumber(ARGV[7])
local by_server = not now
if by_server then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end

local stored = redis.pcall('GET', KEYS[1])
if type(stored) == 'table' then
  return stored
end
if operation == 'p' then
  return { 0, now, stored }
end

local at, a, b
-- Whether what is stored lies so far ahead of now that it is ignored.
local too_far
if stored then
  at, a, b = string.match(stored, '^1 (%d+) (%d+) (%d+)$')
  at, a, b = tonumber(at), tonumber(a), tonumber(b)
  if not (at and at < EXACT and a < 4294967296 and b < 4294967296) then
    return { -1, now, stored }
  end
elseif operation == 'g' then
  return { 0, now, stored }
end
