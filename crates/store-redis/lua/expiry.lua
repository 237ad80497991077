-- When a key expires: in the millisecond in which it is at rest.

local now_ms = floor(now / 1000)

-- The millisecond of the server's clock in which a key is at rest, rounded up.
local function rest_ms(rested)
  local over = rested % 1000
  local whole = (rested - over) / 1000
  if over > 0 then
    whole = whole + 1
  end
  return min(whole, EXACT - 1)
end

-- The milliseconds from now until the key is at rest, rounded up.
local function until_rest(rested)
  if by_server then
    return rest_ms(rested) - now_ms
  end
  return ceil((rested - now) / 1000)
end

-- An expiry as Redis takes it: the name of the option, and its value. By the server's own clock it
-- is an instant, which no delay on the way makes early. By a clock of the caller's it is a span.
local function expiry(rested)
  if by_server then
    return 'PXAT', number_text(min(max(rest_ms(rested), now_ms + 1) + grace, EXACT - 1))
  end
  return 'PX', number_text(min(max(until_rest(rested), 1) + grace + 1, EXACT - 1))
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
  return left < rest_ms(rested) - (time[1] * 1000 + floor(time[2] / 1000))
end

-- A denial changes no count. But a key whose expiry was removed, or is that of a policy with a
-- shorter memory, gets the one that it should have.
local function rearm(key, rested)
  if expires_early(key, rested) then
    local option, value = expiry(rested)
    redis.call(option == 'PXAT' and 'PEXPIREAT' or 'PEXPIRE', key, value)
  end
end
