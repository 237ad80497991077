-- Both buckets: a is what is spent, and was exact at the instant at + b/limit.

-- Brings the bucket to now, which is after at. In units of 1/limit microsecond, in which one unit of
-- cost drains in exactly `window`, there have passed (now - at) * limit - b; whole units of cost go,
-- and r is what remains of the time. Then the new instant is r/limit before now, so no quotient
-- is wider than 53 bits.
local function drain()
  local span, need = (now - at) * limit, a * window
  local units, r
  if span < EXACT and need < EXACT then
    local passed = span - b
    if passed < window then
      return
    end
    if passed >= need then
      a = 0
      return
    end
    units = floor(passed / window)
    r = passed - units * window
  else
    local p2, p1, p0 = product(now - at, limit)
    p2, p1, p0 = plus(p2, p1, p0, -b)
    local w2, w1, w0 = product(window, 1)
    if is_less(p2, p1, p0, w2, w1, w0) then
      return
    end
    local n2, n1, n0 = product(window, a)
    if not is_less(p2, p1, p0, n2, n1, n0) then
      a = 0
      return
    end
    -- The quotient is below 2^32, so the roundings of the doubles make it wrong by one at most,
    -- and the difference of the products, which is exact, tells.
    units = floor(((p2 * BASE + p1) * BASE + p0) / window)
    local u2, u1, u0 = product(window, units)
    r = ((p2 - u2) * BASE + (p1 - u1)) * BASE + (p0 - u0)
    if r < 0 then
      units, r = units - 1, r + window
    elseif r >= window then
      units, r = units + 1, r - window
    end
  end
  a = a - units
  local over = r % limit
  if over == 0 then
    at, b = now - r / limit, 0
  else
    at, b = now - (r - over) / limit - 1, limit - over
  end
end

local function enter()
  too_far = false
  if at then
    a = turned(a)
    b = min(b, limit - 1)
    local ahead = at - now
    too_far = ahead > window or (ahead == window and b > 0)
    if ahead < 0 then
      if a > 0 then
        drain()
      end
    elseif too_far then
      a = 0
    end
  else
    a = 0
  end
  -- A bucket with nothing spent keeps no credit.
  if a == 0 then
    at, b = now, 0
  end
end

local function fits()
  return a + cost <= capacity
end

local function spend()
  a = a + cost
end

local function give()
  a = max(a - cost, 0)
end

-- The instant at which nothing is spent, rounded up, 0 if nothing is.
local function rested_at()
  if a == 0 then
    return 0
  end
  local whole = a * window + b
  if whole < EXACT then
    return at + ceil(whole / limit)
  end
  local p2, p1, p0 = product(window, a)
  p2, p1, p0 = plus(p2, p1, p0, b)
  -- By hand, digit by digit: each step divides less than 2^52.
  local rest = p2 % limit
  local q2 = (p2 - rest) / limit
  local next = rest * BASE + p1
  rest = next % limit
  local q1 = (next - rest) / limit
  next = rest * BASE + p0
  rest = next % limit
  local q0 = (next - rest) / limit
  local wait = (q2 * BASE + q1) * BASE + q0
  if rest > 0 then
    wait = wait + 1
  end
  return at + wait
end

local function to_store()
  return at, turned(a), b
end
