-- A Lua number is a double, which holds integers exactly below 2^53. Nothing here is stored, compared
-- or answered that was computed beyond it.
--
-- In the source `--#` and a name stand for the block of that name, which works on the variables around
-- it. Blocks are no functions, since making functions at every call costs as much as deciding does.
local EXACT = 9007199254740992
local format, match = string.format, string.match
-- The expiry in milliseconds that was last made into text, and that text.
local last_ms, last_value
