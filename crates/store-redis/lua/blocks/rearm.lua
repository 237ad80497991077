-- A denial changes no count. But a key whose expiry was removed, or is that of a policy with a
-- shorter memory, gets the one that it should have.
local left = redis.call('PTTL', key)
local is_early = left < 0
if by_server and not is_early then
  local rest_ms = math.min(math.ceil(rested / 1000), EXACT - 1)
  if left < rest_ms - now_ms then
    -- A millisecond may have begun between the two readings of the clock.
    local time = redis.call('TIME')
    is_early = left < rest_ms - (time[1] * 1000 + math.floor(time[2] / 1000))
  end
elseif not is_early then
  -- The caller's clock need not run as the server's does, and is not held against it too closely.
  is_early = left < math.ceil((rested - now) / 1000) - 1000
end
if is_early then
  local option, value
  --# expiry
  redis.call(option == 'PXAT' and 'PEXPIREAT' or 'PEXPIRE', key, value)
end
