-- Decides on many requests in one call: each by itself, or all or nothing.
--
-- KEYS: one a group of requests, which are for one key under one policy; a key may be that of several
-- groups. ARGV: mode (e each, a all), milliseconds that a key outlives its rest, the time, empty for
-- that of the server, the number of policies; for each policy its strategy (f s t l), limit, window
-- and capacity; then for each run of groups that ask the same: the number of their policy, how many
-- groups they are, how many requests each has, and for each a number: the cost to take, or -1 less
-- the cost to peek.
-- Times and windows are in microseconds. The reply is {time, 1 if all were admitted, and for each
-- group: how many of its requests spent, and what was stored before}. A number of -1 is for a value
-- that is not ours and was left alone. Requests of one key are taken in the order of the groups.
--
-- A Lua number is a double, which holds integers exactly below 2^53. Nothing here is stored, compared
-- or answered that was computed beyond it.
local EXACT = 9007199254740992
local floor, ceil, min, max = math.floor, math.ceil, math.min, math.max
local match, format = string.match, string.format
local all = ARGV[1] == 'a'
local grace, now = tonumber(ARGV[2]), tonumber(ARGV[3])
local by_server = not now
if by_server then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end

local policies, is_used = {}, {}
local next_arg = 5
for number = 1, tonumber(ARGV[4]) do
  local tag = ARGV[next_arg]
  is_used[tag] = true
  policies[number] = {
    tag, tonumber(ARGV[next_arg + 1]), tonumber(ARGV[next_arg + 2]), tonumber(ARGV[next_arg + 3]),
  }
  next_arg = next_arg + 4
end

-- The request at hand, and the state that it is about: what the strategies work on.
local cost, limit, window, capacity, at, a, b, too_far

-- By the tag of the strategy: its functions.
local strategies = {}
