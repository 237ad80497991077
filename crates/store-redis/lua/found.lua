-- Reads what is stored under the one key, and answers what only looks.
local stored = redis.pcall('GET', KEYS[1])
if type(stored) == 'table' then
  return stored
end
if operation == 'p' then
  return { 0, now, stored }
end

local at, a, b
-- Whether what is stored lies so far ahead of now that it is ignored.
local too_far
if stored then
  at, a, b = string.match(stored, '^1 (%d+) (%d+) (%d+)$')
  at, a, b = tonumber(at), tonumber(a), tonumber(b)
  if not (at and at < EXACT and a < 4294967296 and b < 4294967296) then
    return { -1, now, stored }
  end
elseif operation == 'g' then
  return { 0, now, stored }
end
