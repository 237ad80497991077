-- The state at hand as text. '%.0f' writes any number here exactly, and takes its time. '%d' is quick,
-- and goes to 2^31 wherever the server was built, so it writes the instants of our days in two parts.
if at >= 1000000000 and at < 2147483648000000000 and a < 2147483648 and b < 2147483648 then
  local low = at % 1000000000
  text = format('1 %d%09d %d %d', (at - low) / 1000000000, low, a, b)
else
  text = format('1 %.0f %.0f %.0f', at, a, b)
end
