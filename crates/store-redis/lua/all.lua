-- Decides on many requests that are bound together: none spends unless all are admitted.
--
-- KEYS: one a group of requests, which are for one key under one policy; a key may be that of several
-- groups. ARGV: milliseconds that a key outlives its rest; the time, empty for that of the server; the
-- number of policies; for each policy its strategy (f s t l), limit, window and capacity; then for each
-- run of groups that ask the same: the number of their policy, how many groups they are, how many
-- requests each has, and for each a number: the cost to take, or -1 less the cost to peek.
-- Times and windows are in microseconds. The reply is {time, 1 if all were admitted, and for each
-- group: how many of its requests spent, and what was stored before}. A number of -1 is for a value
-- that is not ours and was left alone. Requests of one key are taken in the order of the groups.
--# numbers
local grace, now = ARGV[1] + 0, tonumber(ARGV[2])
--# time
--# tools

-- The policies that requests refer to, and what the strategies work on.
local policies, is_used = {}, {}
local next_arg = 4
for number = 1, tonumber(ARGV[3]) do
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
--# strategies

local function expiry(rested)
  local option, value
  --# expiry
  return option, value
end

local function state_text(at, a, b)
  local text
  --# text
  return text
end

local function rearm(key, rested)
  --# rearm
end

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
  local is_ours, at, a, b
  --# parse
  if is_ours then
    return { KEYS[index], stored, at, a, b, 0, UNTOUCHED }
  end
  return { KEYS[index], stored, false, 0, 0, 0, FOREIGN }
end

local reply = { now, 1 }

-- The run at hand: the functions of its strategy, and its requests.
local enter, fits, rested_at, to_store
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
        a = a + cost
        spent = spent + 1
      end
    end
  end
  if spent > 0 then
    entry[FATE] = CHANGED
  end
  if entry[FATE] ~= UNTOUCHED then
    entry[RESTED] = math.max(entry[RESTED], rested_at())
  end
  if spent > 0 then
    entry[AT], entry[A], entry[B] = to_store()
  end
  return spent
end

local known, order = {}, {}
local index = 0
while index < #KEYS do
  local policy = policies[ARGV[next_arg] + 0]
  limit, window, capacity = policy[2], policy[3], policy[4]
  enter, fits, rested_at, to_store = unpack(strategies[policy[1]])
  local last, requests = index + ARGV[next_arg + 1], ARGV[next_arg + 2] + 0
  costs = {}
  for place = 1, requests do
    costs[place] = ARGV[next_arg + 2 + place] + 0
  end
  next_arg = next_arg + 3 + requests
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
