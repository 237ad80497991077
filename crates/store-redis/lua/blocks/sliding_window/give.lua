-- The current count gives first, then the previous one.
local rest = cost > a and cost - a or 0
a, b = a > cost and a - cost or 0, b > rest and b - rest or 0
