-- Sliding window: at is the start of the current window, a what is used in it, b in the one before.
-- Brings them to now.
too_far = false
if not at then
  at, a, b = now, 0, 0
else
  local passed = now - at
  too_far = -passed > window
  if too_far or passed >= window then
    if passed >= window and passed - window < window and a > 0 then
      at, a, b = at + window, 0, a
    else
      at, a, b = now, 0, 0
    end
  end
end
