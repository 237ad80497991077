-- Deletes the keys if every value among them is ours, and none otherwise.
--
-- KEYS: one a strategy. The reply is 0, or the number of the key whose value is not ours.
for index, key in ipairs(KEYS) do
  local stored = redis.pcall('GET', key)
  if type(stored) == 'table' then
    if string.find(stored.err, 'WRONGTYPE', 1, true) then
      return index
    end
    return stored
  end
  if stored and not string.find(stored, '^1 %d+ %d+ %d+$') then
    return index
  end
end
local done = redis.pcall('DEL', unpack(KEYS))
if type(done) == 'table' then
  return done
end
return 0
