-- Every script begins with this, as far as it counts.
--
-- A Lua number is a double, which holds integers exactly below 2^53. Nothing here is stored, compared
-- or answered that was computed beyond it.
local EXACT = 9007199254740992
local floor, ceil, min, max = math.floor, math.ceil, math.min, math.max
