-- When the key expires: in the millisecond in which it is at rest. By the server's own clock that is
-- an instant, which no delay on the way makes early. By a clock of the caller's it is a span.
local ms
if by_server then
  option = 'PXAT'
  local over = rested % 1000
  ms = (rested - over) / 1000
  if over > 0 then
    ms = ms + 1
  end
  if ms <= now_ms then
    ms = now_ms + 1
  end
  ms = ms + grace
else
  option = 'PX'
  ms = math.max(math.ceil((rested - now) / 1000), 1) + grace + 1
end
if ms >= EXACT then
  ms = EXACT - 1
end
-- As text, which keys of one window share.
if ms ~= last_ms then
  last_ms = ms
  if ms >= 1000000000 and ms < 2147483648000000000 then
    local low = ms % 1000000000
    last_value = format('%d%09d', (ms - low) / 1000000000, low)
  else
    last_value = format('%.0f', ms)
  end
end
value = last_value
