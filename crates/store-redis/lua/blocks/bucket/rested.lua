-- The instant at which nothing is spent, rounded up, 0 if nothing is.
if a == 0 then
  rested = 0
else
  local whole = a * window + b
  if whole < EXACT then
    local over = whole % limit
    rested = at + (whole - over) / limit
    if over > 0 then
      rested = rested + 1
    end
  else
    local product, plus, _, BASE = exact()
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
    rested = at + (q2 * BASE + q1) * BASE + q0
    if rest > 0 then
      rested = rested + 1
    end
  end
end
