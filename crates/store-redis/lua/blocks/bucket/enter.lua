-- Both buckets: a is what is spent, and was exact at the instant at + b/limit. Brings them to now.
too_far = false
if at then
  if b >= limit then
    b = limit - 1
  end
  local ahead = at - now
  too_far = ahead > window or (ahead == window and b > 0)
  if too_far then
    a = 0
  elseif ahead < 0 and a > 0 then
    -- In units of 1/limit microsecond, in which one unit of cost drains in exactly `window`, there
    -- have passed (now - at) * limit - b; whole units of cost go, and r is what remains of the time.
    -- Then the new instant is r/limit before now, so no quotient is wider than 53 bits.
    local span, need = (now - at) * limit, a * window
    -- Nothing, or what has drained.
    local units, r
    if span < EXACT and need < EXACT then
      local passed = span - b
      if passed >= need then
        a = 0
      elseif passed >= window then
        r = passed % window
        units = (passed - r) / window
      end
    else
      local product, plus, is_less, BASE = exact()
      local p2, p1, p0 = product(now - at, limit)
      p2, p1, p0 = plus(p2, p1, p0, -b)
      local n2, n1, n0 = product(window, a)
      if not is_less(p2, p1, p0, n2, n1, n0) then
        a = 0
      elseif not is_less(p2, p1, p0, product(window, 1)) then
        -- The quotient is below 2^32, so the roundings of the doubles make it wrong by one at most,
        -- and the difference of the products, which is exact, tells.
        units = math.floor(((p2 * BASE + p1) * BASE + p0) / window)
        local u2, u1, u0 = product(window, units)
        r = ((p2 - u2) * BASE + (p1 - u1)) * BASE + (p0 - u0)
        if r < 0 then
          units, r = units - 1, r + window
        elseif r >= window then
          units, r = units + 1, r - window
        end
      end
    end
    if units then
      a = a - units
      local over = r % limit
      if over == 0 then
        at, b = now - r / limit, 0
      else
        at, b = now - (r - over) / limit - 1, limit - over
      end
    end
  end
else
  a = 0
end
-- A bucket with nothing spent keeps no credit.
if a == 0 then
  at, b = now, 0
end
