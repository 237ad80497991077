-- Numbers as text, for one key. '%.0f' writes any number here exactly, and takes its time. '%d' is
-- quick, and goes to 2^31 wherever the server was built, so it writes the instants of our days in
-- two parts.
local BILLION, SMALL = 1000000000, 2147483648

local function state_text(x, y, z)
  if x >= BILLION and x < SMALL * BILLION and y < SMALL and z < SMALL then
    local low = x % BILLION
    return string.format('1 %d%09d %d %d', (x - low) / BILLION, low, y, z)
  end
  return string.format('1 %.0f %.0f %.0f', x, y, z)
end

local function number_text(x)
  if x >= BILLION and x < SMALL * BILLION then
    local low = x % BILLION
    return string.format('%d%09d', (x - low) / BILLION, low)
  end
  return string.format('%.0f', x)
end
