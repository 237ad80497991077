-- Decides on one key by one strategy, or gives back.
--
-- KEYS: the key. ARGV: operation (t take, p peek, g give back), cost, limit, window and capacity,
-- milliseconds that a key outlives its rest, and the time, empty for that of the server.
-- Times and windows are in microseconds. The reply is {written, time, stored before}, where
-- `written` is 1 for an admission that was stored, 0 for nothing stored, and -1 for a value that
-- is not ours and was left alone.
--# numbers
local key, asked = KEYS[1], ARGV
-- Adding makes them numbers, quicker than `tonumber`.
local operation, cost = asked[1], asked[2] + 0
local limit, window, capacity, grace = asked[3] + 0, asked[4] + 0, asked[5] + 0, asked[6] + 0
local now = tonumber(asked[7])
--# time
local stored = redis.pcall('GET', key)
if type(stored) == 'table' then
  return stored
end
if operation == 'p' then
  return { 0, now, stored }
end
local at, a, b
if stored then
  local is_ours
  --# parse
  if not is_ours then
    return { -1, now, stored }
  end
elseif operation == 'g' then
  return { 0, now, stored }
end

-- What the strategy's blocks leave: whether what is stored lies so far ahead of now that it is ignored,
-- whether the cost fits, and the instant at which nothing is spent, 0 if nothing is.
local too_far, fits, rested
--# tools
if at then
  --# turn
end
--# enter
if operation == 'g' then
  -- What is ignored stays as it is.
  if too_far then
    return { 1, now, stored }
  end
  --# give
elseif cost == 0 then
  return { 0, now, stored }
else
  --# fits
  if not fits then
    if stored then
      --# rested
      --# rearm
    end
    return { 0, now, stored }
  end
  a = a + cost
end

--# rested
if rested == 0 then
  local done = redis.pcall('DEL', key)
  if type(done) == 'table' then
    return done
  end
  return { 1, now, stored }
end
local option, value, text
--# expiry
--# turn
--# text
local done = redis.pcall('SET', key, text, option, value)
if done.err then
  return done
end
return { 1, now, stored }
