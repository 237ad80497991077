-- Reads the request, the time and what is stored. The scripts for one key begin with this.
--
-- KEYS: the key. ARGV: operation (t take, p peek, g give back), cost, limit, window and capacity,
-- milliseconds that a key outlives its rest, and the time, empty for that of the server.
-- Times and windows are in microseconds. The reply is {written, time, stored before}, where
-- `written` is 1 for an admission that was stored, 0 for nothing stored, and -1 for a value that
-- is not ours and was left alone.
local operation, cost = ARGV[1], tonumber(ARGV[2])
local limit, window, capacity = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local grace, now = tonumber(ARGV[6]), tonumber(ARGV[7])
