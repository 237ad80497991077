-- Decides on all groups, and then writes what has changed unless one was denied: the end of the
-- script for requests that are bound together.
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
  local s, x, y = match(stored, '^1 (%d+) (%d+) (%d+)$')
  if s then
    -- Adding makes them numbers, quicker than `tonumber`.
    s, x, y = s + 0, x + 0, y + 0
    if s < EXACT and x < 4294967296 and y < 4294967296 then
      return { KEYS[index], stored, s, x, y, 0, UNTOUCHED }
    end
  end
  return { KEYS[index], stored, false, 0, 0, 0, FOREIGN }
end

local reply = { now, 1 }

-- The run at hand: the functions of its strategy, and its requests.
local enter, fits, spend, rested_at, to_store
local costs = {}

local function decide(entry)
  if entry[FATE] == FOREIGN then
    return -1
  end
  at, a, b = entry[AT], entry[A], entry[B]
  enter()
  local spent = 0
  for _, asked in ipairs(costs) do
    cost = asked < 0 and -1 - asked or asked
    if cost > 0 then
      if not fits() then
        reply[2] = 0
        if entry[FATE] == UNTOUCHED then
          entry[FATE] = DENIED
        end
      elseif asked > 0 then
        spend()
        spent = spent + 1
      end
    end
  end
  if spent > 0 then
    entry[FATE] = CHANGED
    entry[AT], entry[A], entry[B] = to_store()
  end
  if entry[FATE] ~= UNTOUCHED then
    entry[RESTED] = max(entry[RESTED], rested_at())
  end
  return spent
end

local known, order = {}, {}
local index = 0
while index < #KEYS do
  local policy = policies[ARGV[next_arg] + 0]
  limit, window, capacity = policy[2], policy[3], policy[4]
  enter, fits, spend, rested_at, to_store = unpack(strategies[policy[1]])
  local last = index + ARGV[next_arg + 1]
  costs = costs_of(next_arg + 2)
  next_arg = next_arg + 3 + #costs
  while index < last do
    index = index + 1
    local key = KEYS[index]
    local entry = known[key]
    if not entry then
      entry = look(index)
      known[key] = entry
      order[#order + 1] = entry
    end
    reply[2 * index + 1] = decide(entry)
    reply[2 * index + 2] = entry[STORED]
  end
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

for _, entry in ipairs(order) do
  if entry[FATE] == FOREIGN or is_taken(entry) then
    leave_alone(entry)
    reply[2] = 0
  end
end
local all_fit = reply[2] == 1
for _, entry in ipairs(order) do
  local fate = entry[FATE]
  if fate == CHANGED and all_fit then
    local option, value = expiry(entry[RESTED])
    local text = state_text(entry[AT], entry[A], entry[B])
    local done = redis.pcall('SET', entry[KEY], text, option, value)
    if done.err then
      return done
    end
  elseif fate == DENIED and entry[STORED] then
    rearm(entry[KEY], entry[RESTED])
  end
end
return reply
