-- previous * (window - elapsed) <= (limit - current - cost) * window
local room = limit - a - cost
if room < 0 then
  fits = false
elseif b == 0 then
  fits = true
else
  local left = window
  if now > at then
    left = now - at < window and window - (now - at) or 0
  end
  local carried, free = b * left, room * window
  -- Rounding keeps the order, so a product below 2^53 is exact, and one that is not is not below.
  if carried < EXACT and free < EXACT then
    fits = carried <= free
  else
    local product, _, is_less = exact()
    local c2, c1, c0 = product(left, b)
    local f2, f1, f0 = product(window, room)
    fits = not is_less(f2, f1, f0, c2, c1, c0)
  end
end
