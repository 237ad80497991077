-- Decides on many requests under one policy that came at the same time, each by itself.
--
-- KEYS: one a group of requests, which are all requests for that key. ARGV: milliseconds that a key
-- outlives its rest; the time, empty for that of the server; limit, window and capacity; then for each
-- run of groups that ask the same: how many groups they are, how many requests each has, and for each
-- a number: the cost to take, or -1 less the cost to peek.
-- Times and windows are in microseconds. The reply is {time, 1, and for each group: how many of its
-- requests spent, and what was stored before}. A number of -1 is for a value that is not ours and was
-- left alone.
--# numbers
local keys, asked = KEYS, ARGV
local grace, now = asked[1] + 0, tonumber(asked[2])
local limit, window, capacity = asked[3] + 0, asked[4] + 0, asked[5] + 0
--# time
local values = redis.pcall('MGET', unpack(keys))
if values.err then
  return values
end
local pcall = redis.pcall
--# tools

local reply = { now, 1 }
local index, count, next_arg = 0, #keys, 6
while index < count do
  -- The run at hand: where it ends, and what each of its groups asks.
  local last, requests = index + asked[next_arg], asked[next_arg + 1] + 0
  local costs = {}
  for place = 1, requests do
    costs[place] = asked[next_arg + 1 + place] + 0
  end
  next_arg = next_arg + 2 + requests
  while index < last do
    index = index + 1
    local key, stored = keys[index], values[index]
    local at, a, b
    local is_ours = true
    if stored then
      --# parse
    end
    local spent = 0
    if is_ours then
      local too_far, fits, rested
      if at then
        --# turn
      end
      --# enter
      local is_denied = false
      for place = 1, requests do
        local cost = costs[place]
        local is_taken = cost > 0
        if cost < 0 then
          cost = -1 - cost
        end
        if cost > 0 then
          --# fits
          if not fits then
            is_denied = true
          elseif is_taken then
            a = a + cost
            spent = spent + 1
          end
        end
      end
      if spent > 0 then
        --# rested
        local option, value, text
        --# expiry
        --# turn
        --# text
        local done
        if stored then
          done = pcall('SET', key, text, option, value)
        else
          -- A key that was not found may hold something other than text.
          done = pcall('SET', key, text, option, value, 'NX')
        end
        if not done then
          is_ours = false
        elseif done.err then
          return done
        end
      elseif not stored then
        is_ours = redis.call('EXISTS', key) == 0
      elseif is_denied then
        --# rested
        --# rearm
      end
    end
    reply[2 * index + 1], reply[2 * index + 2] = is_ours and spent or -1, stored
  end
end
return reply
