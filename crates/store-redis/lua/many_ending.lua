-- Decides on all groups, and then writes what has changed. A script for many requests ends with this.
local values = redis.pcall('MGET', unpack(KEYS))
if values.err then
  return values
end

-- What is known of a key, by place: what was stored, the state as it is by now, the instant at which
-- it rests, and what becomes of it. Places are cheaper than names, of which there would be many.
local KEY, STORED, AT, A, B, RESTED, FATE = 1, 2, 3, 4, 5, 6, 7
local UNTOUCHED, DENIED, CHANGED, FOREIGN = 0, 1, 2, 3

local function look(index)
  local stored = values[index]
  if not stored then
    return { KEYS[index], false, false, 0, 0, 0, UNTOUCHED }
  end
  local s, x, y = string.match(stored, '^1 (%d+) (%d+) (%d+)$')
  s, x, y = tonumber(s), tonumber(x), tonumber(y)
  if s and s < EXACT and x < 4294967296 and y < 4294967296 then
    return { KEYS[index], stored, s, x, y, 0, UNTOUCHED }
  end
  return { KEYS[index], stored, false, 0, 0, 0, FOREIGN }
end

local reply = { now, 1 }
local function decide(entry)
  local policy, count = policies[tonumber(ARGV[next_arg])], tonumber(ARGV[next_arg + 1])
  local first = next_arg + 2
  next_arg = first + count
  if entry[FATE] == FOREIGN then
    return -1
  end
  limit, window, capacity = policy[2], policy[3], policy[4]
  local strategy = strategies[policy[1]]
  local fits, spend = strategy[2], strategy[3]
  at, a, b = entry[AT], entry[A], entry[B]
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
        if entry[FATE] == UNTOUCHED then
          entry[FATE] = DENIED
        end
      elseif not peeks then
        spend()
        spent = spent + 1
      end
    end
  end
  if spent > 0 then
    entry[FATE] = CHANGED
    entry[AT], entry[A], entry[B] = strategy[5]()
  end
  if entry[FATE] ~= UNTOUCHED then
    entry[RESTED] = math.max(entry[RESTED], strategy[4]())
  end
  return spent
end

local known, order = {}, {}
for index, key in ipairs(KEYS) do
  local entry = known[key]
  if not entry then
    entry = look(index)
    known[key] = entry
    order[#order + 1] = entry
  end
  reply[2 * index + 1] = decide(entry)
  reply[2 * index + 2] = entry[STORED]
end

-- Marks every group of a key whose value is not ours.
local function leave_alone(entry)
  entry[FATE] = FOREIGN
  for index, key in ipairs(KEYS) do
    if key == entry[KEY] then
      reply[2 * index + 1] = -1
    end
  end
end

-- A key that was not found may hold something other than text.
local function is_taken(entry)
  return not entry[STORED] and redis.call('EXISTS', entry[KEY]) == 1
end

local nothing = all and reply[2] == 0
if all then
  for _, entry in ipairs(order) do
    if entry[FATE] == FOREIGN or is_taken(entry) then
      leave_alone(entry)
      nothing = true
    end
  end
end
for _, entry in ipairs(order) do
  local fate = entry[FATE]
  if fate == FOREIGN then
    reply[2] = 0
  elseif fate == CHANGED and not nothing then
    local option, value = expiry(entry[RESTED])
    local text = state_text(entry[AT], entry[A], entry[B])
    local done
    if entry[STORED] then
      done = redis.pcall('SET', entry[KEY], text, option, value)
    else
      done = redis.pcall('SET', entry[KEY], text, option, value, 'NX')
    end
    if not done then
      leave_alone(entry)
    elseif done.err then
      return done
    end
  elseif fate == DENIED and entry[STORED] then
    rearm(entry[KEY], entry[RESTED])
  elseif not all and is_taken(entry) then
    leave_alone(entry)
  end
end
return reply
