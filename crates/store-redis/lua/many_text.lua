-- Numbers as text, for many keys. '%.0f' writes any number here exactly, and takes its time. '%d' is
-- quick, and as exact where the server was built for 64 bits: it is tried, on the largest.
local is_wide = format('%d', EXACT - 1) == '9007199254740991'
local STATE = is_wide and '1 %d %d %d' or '1 %.0f %.0f %.0f'
local NUMBER = is_wide and '%d' or '%.0f'

local function state_text(x, y, z)
  return format(STATE, x, y, z)
end

-- Keys of one window expire together.
local last_number, last_text
local function number_text(x)
  if x ~= last_number then
    last_number, last_text = x, format(NUMBER, x)
  end
  return last_text
end
