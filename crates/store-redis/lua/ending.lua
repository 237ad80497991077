-- Spends or gives back, and sees to the key's expiry. Every script but the one that resets ends
-- with this.

-- The milliseconds from now until the key is at rest, rounded up.
local function until_rest(rested)
  if by_server then
    return math.min(math.ceil(rested / 1000), EXACT - 1) - math.floor(now / 1000)
  end
  return math.ceil((rested - now) / 1000)
end

-- An expiry as Redis takes it: the name of the option, and its value. By the server's own clock it
-- is an instant, which no delay on the way makes early. By a clock of the caller's it is a span.
local function expiry(rested)
  local left = math.max(until_rest(rested), 1) + grace
  if by_server then
    return 'PXAT', string.format('%.0f', math.min(math.floor(now / 1000) + left, EXACT - 1))
  end
  return 'PX', string.format('%.0f', math.min(left + 1, EXACT - 1))
end

local function store()
  local option, value = expiry(rested_at())
  local text = string.format('1 %.0f %.0f %.0f', to_store())
  local done = redis.pcall('SET', KEYS[1], text, option, value)
  if done.err then
    return done
  end
  return { 1, now, stored }
end

if operation == 'g' then
  -- What is ignored because it lies too far ahead stays as it is.
  if too_far then
    return { 1, now, stored }
  end
  give()
  if rested_at() == 0 then
    local done = redis.pcall('DEL', KEYS[1])
    if type(done) == 'table' then
      return done
    end
    return { 1, now, stored }
  end
  return store()
end

if cost == 0 then
  return { 0, now, stored }
end
if fits() then
  spend()
  return store()
end
-- A denial changes no count. But a key whose expiry was removed, or is that of a policy with a
-- shorter memory, gets the one that it should have.
local rested = rested_at()
local function expires_early()
  local left = redis.call('PTTL', KEYS[1])
  if left < 0 then
    return true
  end
  if not by_server then
    -- The caller's clock need not run as the server's does, and is not held against it too closely.
    return left < until_rest(rested) - 1000
  end
  if left >= until_rest(rested) then
    return false
  end
  -- A millisecond may have begun between the two readings of the clock.
  local time = redis.call('TIME')
  local ms = time[1] * 1000 + math.floor(time[2] / 1000)
  return left < math.min(math.ceil(rested / 1000), EXACT - 1) - ms
end
if stored and expires_early() then
  local option, value = expiry(rested)
  redis.call(option == 'PXAT' and 'PEXPIREAT' or 'PEXPIRE', KEYS[1], value)
end
return { 0, now, stored }
