-- Reads the text that is stored; whether it is ours. Adding makes numbers, quicker than `tonumber`.
local s, x, y = match(stored, '^1 (%d+) (%d+) (%d+)$')
if s then
  at, a, b = s + 0, x + 0, y + 0
end
is_ours = s and at < EXACT and a < 4294967296 and b < 4294967296
