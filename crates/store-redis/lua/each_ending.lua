-- Decides on each group by itself, and writes what has changed: the end of the script for requests
-- that came at the same time. They come by the hundred, so this makes no tables and calls nothing
-- that it can do without.
local values = redis.pcall('MGET', unpack(KEYS))
if values.err then
  return values
end

local call, pcall = redis.call, redis.pcall
local FOREIGN = -1

-- The run at hand: the functions of its strategy, and what each group asks.
local enter, fits, spend, rested_at, to_store
local costs = {}

-- Takes what is stored for the state at hand; whether it is ours.
local function take(stored)
  local s, x, y = match(stored, '^1 (%d+) (%d+) (%d+)$')
  if not s then
    return false
  end
  -- Adding makes them numbers, quicker than `tonumber`.
  at, a, b = s + 0, x + 0, y + 0
  return at < EXACT and a < 4294967296 and b < 4294967296
end

-- Decides on what a group asks of the state at hand. How many spent, and whether one was denied.
local function decide()
  enter()
  local spent, is_denied = 0, false
  for place = 1, #costs do
    local asked = costs[place]
    cost = asked
    if asked < 0 then
      cost = -1 - asked
    end
    if cost > 0 then
      if not fits() then
        is_denied = true
      elseif asked > 0 then
        spend()
        spent = spent + 1
      end
    end
  end
  return spent, is_denied
end

-- Writes the state at hand. The text, or nothing where the key turns out to hold something other
-- than text, or what the server says against it.
local function write(key, stored)
  local text = state_text(to_store())
  local option, value = expiry(rested_at())
  local done
  if stored then
    done = pcall('SET', key, text, option, value)
  else
    done = pcall('SET', key, text, option, value, 'NX')
  end
  return done and text, done and done.err and done
end

-- What has been written to keys that may come again.
local written = keys_repeat and {}
local reply = { now, 1 }
local index, count = 0, #KEYS
while index < count do
  local policy = policies[ARGV[next_arg] + 0]
  limit, window, capacity = policy[2], policy[3], policy[4]
  enter, fits, spend, rested_at, to_store = unpack(strategies[policy[1]])
  local last = index + ARGV[next_arg + 1]
  costs = costs_of(next_arg + 2)
  next_arg = next_arg + 3 + #costs
  while index < last do
    index = index + 1
    local key, stored = KEYS[index], values[index]
    if written and written[key] then
      stored = written[key]
    end
    at = nil
    local spent, is_denied = FOREIGN, false
    if not stored or take(stored) then
      spent, is_denied = decide()
      if spent > 0 then
        local text, failure = write(key, stored)
        if failure then
          return failure
        elseif not text then
          spent = FOREIGN
        elseif written then
          written[key] = text
        end
      elseif not stored then
        if call('EXISTS', key) == 1 then
          spent = FOREIGN
        end
      elseif is_denied then
        rearm(key, rested_at())
      end
    end
    reply[2 * index + 1], reply[2 * index + 2] = spent, stored
  end
end
return reply
