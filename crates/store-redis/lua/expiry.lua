-- What is written: numbers as text, and when a key expires, in the millisecond in which it is at rest.

-- '%.0f' writes any number here exactly, and takes its time. '%d' is quick and goes to 2^31 wherever
-- the server was built, so it writes the instants of our days in two parts.
local BILLION, SMALL = 1000000000, 2147483648

local function state_text(x, y, z)
  if x >= BILLION and x < SMALL * BILLION and y < SMALL and z < SMALL then
    local low = x % BILLION
    return string.format('1 %d%09d %d %d', (x - low) / BILLION, low, y, z)
  end
  return string.format('1 %.0f %.0f %.0f', x, y, z)
end

local function number_text(x)
  if x >= BILLION and x < SMALL * BILLION then
    local low = x % BILLION
    return string.format('%d%09d', (x - low) / BILLION, low)
  end
  return string.format('%.0f', x)
end

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
    return 'PXAT', number_text(math.min(math.floor(now / 1000) + left, EXACT - 1))
  end
  return 'PX', number_text(math.min(left + 1, EXACT - 1))
end

local function expires_early(key, rested)
  local left = redis.call('PTTL', key)
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

-- A denial changes no count. But a key whose expiry was removed, or is that of a policy with a
-- shorter memory, gets the one that it should have.
local function rearm(key, rested)
  if expires_early(key, rested) then
    local option, value = expiry(rested)
    redis.call(option == 'PXAT' and 'PEXPIREAT' or 'PEXPIRE', key, value)
  end
end
