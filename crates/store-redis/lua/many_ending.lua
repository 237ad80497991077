-- Decides on all groups, and then writes what has changed. A script for many requests ends with this.
local values = redis.pcall('MGET', unpack(KEYS))
if values.err then
  return values
end

-- What is known of a key: what was stored, the state as it is by now, whether it differs, and the
-- instant at which it rests.
local known = {}
local function look(index)
  local key = KEYS[index]
  local entry = known[key]
  if entry then
    return entry
  end
  local stored = values[index]
  entry = { key = key, stored = stored, rested = 0 }
  if stored then
    local s, x, y = string.match(stored, '^1 (%d+) (%d+) (%d+)$')
    s, x, y = tonumber(s), tonumber(x), tonumber(y)
    if s and s < EXACT and x < 4294967296 and y < 4294967296 then
      entry.at, entry.a, entry.b = s, x, y
    else
      entry.foreign = true
    end
  end
  known[key] = entry
  return entry
end

local reply = { now, 1 }
local function decide(index, entry)
  local policy, count = policies[tonumber(ARGV[next_arg])], tonumber(ARGV[next_arg + 1])
  local first = next_arg + 2
  next_arg = first + count
  if entry.foreign then
    return -1
  end
  limit, window, capacity = policy[2], policy[3], policy[4]
  local strategy = strategies[policy[1]]
  local fits, spend = strategy[2], strategy[3]
  at, a, b = entry.at, entry.a, entry.b
  strategy[1]()
  local spent = 0
  for place = first, first + count - 1 do
    cost = tonumber(ARGV[place])
    local peeks = cost < 0
    if peeks then
      cost = -1 - cost
    end
    if cost > 0 then
      if not fits() then
        reply[2] = 0
        entry.denied = true
      elseif not peeks then
        spend()
        spent = spent + 1
      end
    end
  end
  if spent > 0 then
    entry.changed = true
    entry.rested = math.max(entry.rested, strategy[4]())
    entry.at, entry.a, entry.b = strategy[5]()
  elseif entry.denied then
    entry.rested = math.max(entry.rested, strategy[4]())
  end
  return spent
end

local order = {}
for index = 1, #KEYS do
  local entry = look(index)
  if not entry.index then
    entry.index = index
    order[#order + 1] = entry
  end
  reply[2 * index + 1] = decide(index, entry)
  reply[2 * index + 2] = entry.stored
end

-- Marks every group of a key whose value is not ours.
local function leave_alone(entry)
  entry.foreign, entry.changed = true, false
  for index = 1, #KEYS do
    if KEYS[index] == entry.key then
      reply[2 * index + 1] = -1
    end
  end
end

-- A key that was not found may hold something other than text.
local function is_taken(entry)
  return not entry.stored and redis.call('EXISTS', entry.key) == 1
end

local nothing = all and reply[2] == 0
if all then
  for _, entry in ipairs(order) do
    if entry.foreign or is_taken(entry) then
      leave_alone(entry)
      nothing = true
    end
  end
end
for _, entry in ipairs(order) do
  if entry.foreign then
    reply[2] = 0
  elseif entry.changed and not nothing then
    local option, value = expiry(entry.rested)
    local text = string.format('1 %.0f %.0f %.0f', entry.at, entry.a, entry.b)
    local done
    if entry.stored then
      done = redis.pcall('SET', entry.key, text, option, value)
    else
      done = redis.pcall('SET', entry.key, text, option, value, 'NX')
    end
    if not done then
      leave_alone(entry)
    elseif done.err then
      return done
    end
  elseif entry.stored and entry.denied and not entry.changed then
    rearm(entry.key, entry.rested)
  elseif not all and is_taken(entry) then
    leave_alone(entry)
  end
end
return reply
