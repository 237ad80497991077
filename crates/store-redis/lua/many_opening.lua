-- Decides on many requests in one call. It begins and is answered alike whether they are each taken
-- by itself or bound together; how it ends differs.
--
-- KEYS: one a group of requests, which are for one key under one policy; a key may be that of several
-- groups. ARGV: whether one is, 1 or 0; milliseconds that a key outlives its rest; the time, empty for
-- that of the server; the number of policies; for each policy its strategy (f s t l), limit, window
-- and capacity; then for each run of groups that ask the same: the number of their policy, how many
-- groups they are, how many requests each has, and for each a number: the cost to take, or -1 less
-- the cost to peek.
-- Times and windows are in microseconds. The reply is {time, 1 if what is bound together was
-- admitted, and for each group: how many of its requests spent, and what was stored before}. A number
-- of -1 is for a value that is not ours and was left alone. Requests of one key are taken in the
-- order of the groups.
local match, format = string.match, string.format
local keys_repeat = ARGV[1] == '1'
local grace, now = tonumber(ARGV[2]), tonumber(ARGV[3])
