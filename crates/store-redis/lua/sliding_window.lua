-- Sliding window: at is the start of the current window, a what is used in it, b in the one before.
local function enter()
  too_far = false
  if not at then
    at, a, b = now, 0, 0
    return
  end
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

-- previous * (window - elapsed) <= (limit - current - cost) * window
local function fits()
  local room = limit - a - cost
  if room < 0 then
    return false
  end
  if b == 0 then
    return true
  end
  local left = window - min(max(now - at, 0), window)
  local carried, free = b * left, room * window
  -- Rounding keeps the order, so a product below 2^53 is exact, and one that is not is not below.
  if carried < EXACT and free < EXACT then
    return carried <= free
  end
  local c2, c1, c0 = product(left, b)
  local f2, f1, f0 = product(window, room)
  return not is_less(f2, f1, f0, c2, c1, c0)
end

local function spend()
  a = a + cost
end

-- The current count gives first, then the previous one.
local function give()
  local rest = max(cost - a, 0)
  a, b = max(a - cost, 0), max(b - rest, 0)
end

-- The instant at which nothing counts any more, 0 if nothing does.
local function rested_at()
  if a > 0 then
    return at + window + window
  end
  if b > 0 then
    return at + window
  end
  return 0
end

local function to_store()
  return at, a, b
end
